// SPDX-License-Identifier: BSD-3-Clause
// template.cpp - any bytes as a template: refused with a reason, or all that reads it can.
//
// Sealed anew, so that what is behind the checksum is reached. What nbc_template_check() lets pass
// is listed, counted, and made a plan of, on an adapter made of software; where there is one rank,
// it is started.

#include "nbc/template.h"

#include <cstring>
#include <sstream>
#include <vector>

#include "codegen/common/template_view.h"
#include "codegen/target.h"
#include "devices/hca/hca.h"
#include "nbc.h"
#include "test/fuzz/fuzz.h"

namespace nbcc {
namespace {

Template sealed(const uint8_t *bytes, size_t size) {
  Template t;
  t.bytes = size / 8 * 8;
  t.words.resize(t.bytes / 8);
  std::memcpy(t.words.data(), bytes, t.bytes);
  auto *header = reinterpret_cast<nbc_template *>(t.words.data());
  header->magic = NBC_TEMPLATE_MAGIC;
  header->version = NBC_TEMPLATE_VERSION;
  header->bytes = t.bytes;
  header->checksum = nbc_template_checksum(t.words.data(), t.bytes);
  return t;
}

nbc_bootstrap alone(uint32_t rank, uint32_t ranks) {
  nbc_bootstrap b{};
  b.rank = static_cast<int>(rank);
  b.ranks = static_cast<int>(ranks);
  b.put = [](void *, const char *, const void *, size_t) { return 0; };
  b.get = [](void *, int, const char *, void *, size_t, size_t *) { return 1; };
  return b;
}

void plan(const Template &t, const nbc_template &header) {
  hca::Fabric fabric({.mode = hca::Mode::Simulated});
  const nbc_bootstrap bootstrap = alone(header.rank, header.ranks);
  nbc_device *device = &fabric.addAdapter()->device;
  nbc_comm *comm = nullptr;
  wanted(nbc_comm_create(&bootstrap, &device, 1, &comm) == 0, "no communicator");
  // A direct one is for one call, whose memory the adapter gets to know.
  const codegen::TemplateView view(t);
  uint64_t most = header.ranks;
  for (const nbc_buffer &b : view.buffers)
    if (b.role <= NBC_ROLE_DATA) most = std::max(most, b.blocks);
  const bool direct = !view.variants.empty() && view.variants[0].protocol == NBC_DIRECT;
  std::vector<uint64_t> memory(direct && most <= 1024 ? 2 * most + 2 : 0);
  const nbc_call bound = {.in = memory.data(),
                          .out = memory.data() + memory.size() / 2,
                          .data = memory.data() + memory.size() / 2,
                          .count = 1,
                          .type = NBC_U64};
  const nbc_plan_options options = {
      .depth = 2, .eager_bytes = 64, .max_bytes = 256, .call = memory.empty() ? nullptr : &bound};
  nbc_plan *made = nullptr;
  const int status = nbc_plan_create(comm, t.data(), t.bytes, &options, &made);
  wanted(*nbc_plan_why() != 0, "refused without a reason");
  if (status == 0 && nbc_plan_connect(made) == 0) {
    nbc_plan_info info;
    nbc_plan_query(made, &info);
    const size_t blocks = std::max({info.in_blocks, info.out_blocks, info.data_blocks});
    if (blocks <= 1024) {
      std::vector<uint64_t> in(blocks + 1), out(blocks + 1);
      const nbc_call any = {
          .in = in.data(), .out = out.data(), .data = out.data(), .count = 1, .type = NBC_U64};
      const nbc_call &call = direct ? bound : any;
      nbc_request request;
      int done = 0;
      if (nbc_start(made, &call, &request) == 0) {
        fabric.run({}, {.events = 100'000});
        nbc_test(&request, &done);
        if (!done) {
          wanted(nbc_plan_abandon(made) == 0, "it cannot be abandoned");
          nbc_test(&request, &done);
        }
        wanted(done != 0, "a call has no end");
      }
    }
  }
  wanted(nbc_plan_free(made) == 0 && nbc_comm_free(comm) == 0, "it cannot be freed");
}

}  // namespace
}  // namespace nbcc

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  using namespace nbcc;
  if (size < sizeof(nbc_template)) return -1;
  const Template t = sealed(bytes, size);
  const auto &header = *reinterpret_cast<const nbc_template *>(t.words.data());
  const char *why = nullptr;
  const int status = nbc_template_check(t.data(), t.bytes, &why);
  wanted(why && (status == 0) == (*why == 0), "refused without a reason, or let pass with one");
  if (status != 0) return 0;
  const Target *target = findTarget(header.target);
  wanted(target != nullptr, "of no target");
  std::ostringstream out;
  target->printTasks(t, out);
  target->printResources(t, out);
  if (std::string_view(target->name) == "coredirect") plan(t, header);
  return 0;
}
