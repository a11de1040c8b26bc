// SPDX-License-Identifier: BSD-3-Clause
// Messages within a node: a record that was changed, or stands in another stage, is found out.

#include "nbc/message_record.h"
#include "test/codegen/coredirect/support.h"

namespace nbcc {
namespace {

using namespace crosschannel;

struct Mutants {
  int all = 0;
  std::vector<std::string> unnoticed;
};

/// `change` is given the variant's records and stages, in bytes that may be changed.
void mutate(const Template &good, const std::vector<Legal> &legals, size_t v, const auto &change,
            const char *what, Mutants &mutants) {
  Template bad = good;
  const View view(bad);
  const nbc_variant &variant = view.variants[v];
  std::span<nbc_message_record> records;
  for (const nbc_segment &s : view.segmentsOf(variant.segments))
    if (view.queues[s.queue].kind == NBC_QUEUE_MESSAGES)
      records = {
          reinterpret_cast<nbc_message_record *>(const_cast<unsigned char *>(view.code + s.offset)),
          s.entries};
  auto *stages = const_cast<nbc_stage *>(view.stages.data() + variant.stages.begin);
  if (!change(records, std::span(stages, variant.stages.count))) return;
  seal(bad);
  ++mutants.all;
  if (verified(bad, legals).empty()) mutants.unnoticed.push_back(cat(what, "\n", tasks(good)));
}

void mutateAll(const Schedule &s, const TargetOptions &options, Mutants &mutants) {
  const std::vector<Legal> legals = ways(s, options);
  const Template good = coredirect_emit(legals, options);
  EXPECT_EQ(verified(good, legals), "");
  using Records = std::span<nbc_message_record>;
  using Stages = std::span<nbc_stage>;
  for (size_t v = 0; v < legals.size(); ++v) {
    for (size_t k = 0; k < 64; ++k) {
      mutate(
          good, legals, v,
          [&](Records records, Stages) {  // it waits for another message
            if (k >= records.size() || records[k].op != NBC_MESSAGE_WAIT) return false;
            for (uint32_t other = 0; other < k; ++other)
              if (records[other].op != NBC_MESSAGE_WAIT && other != records[k].record) {
                records[k].record = other;
                return true;
              }
            return false;
          },
          "another wait", mutants);
      mutate(
          good, legals, v,
          [&](Records records, Stages) {  // what is sent is received
            if (k >= records.size() || records[k].op == NBC_MESSAGE_WAIT) return false;
            records[k].op = records[k].op == NBC_MESSAGE_SEND ? NBC_MESSAGE_RECV : NBC_MESSAGE_SEND;
            return true;
          },
          "the other way", mutants);
      mutate(
          good, legals, v,
          [&](Records records, Stages stages) {  // it waits only in the next stage
            if (k + 1 >= stages.size()) return false;
            const uint32_t begin = k ? stages[k - 1].records : 0, end = stages[k].records;
            if (end == begin || records[end - 1].op != NBC_MESSAGE_WAIT) return false;
            --stages[k].records;
            return true;
          },
          "a later wait", mutants);
    }
  }
}

TEST(Within, NoticesEveryBrokenRecord) {
  Mutants mutants;
  for (const int P : {4, 6, 8})
    for (const int me : {0, 1, P - 1})
      for (const Protocol protocol : {Protocol::automatic, Protocol::direct}) {
        std::vector<int32_t> nodes;
        for (int r = 0; r < P; ++r) nodes.push_back(r / 2);
        const Topology topology(nodes);
        const TargetOptions options{.protocol = protocol, .topology = &topology, .within = true};
        mutateAll(passed(ring(P, me)), options, mutants);
        mutateAll(passed(bruck(P, me)), options, mutants);
        if (P != 6) mutateAll(passed(recursiveDoubling(P, me)), options, mutants);
      }
  EXPECT_TRUE(mutants.unnoticed.empty())
      << mutants.unnoticed.size() << " of " << mutants.all << ", " << mutants.unnoticed.front();
  EXPECT_GT(mutants.all, 300);
}

/// What is said of a ring on two nodes of two, eager, whose stages `change` has changed.
template <class Change>
std::string saidOfRing(int me, const Change &change) {
  const Topology topology({0, 0, 1, 1});
  const TargetOptions options{.protocol = Protocol::eager, .topology = &topology, .within = true};
  const std::vector<Legal> legals = ways(passed(ring(4, me)), options);
  Template t = coredirect_emit(legals, options);
  const View view(t);
  change(const_cast<nbc_stage *>(view.stages.data() + view.variants[0].stages.begin), tasks(t));
  seal(t);
  return verified(t, legals);
}

TEST(Within, SaysWhatMayStartTooEarly) {
  const std::string said = saidOfRing(1, [](nbc_stage *stages, const std::string &good) {
    // RECV, RECV | WAIT for the first, RECV | ... : the WAIT goes behind what is sent on.
    ASSERT_EQ(stages[0].records, 2u) << good;
    stages[1].records = 2;
  });
  EXPECT_NE(said.find("the WAIT for the other is record 2, of stage 2"), std::string::npos) << said;
}

TEST(Within, SaysWhoMayWaitForEver) {
  const std::string said = saidOfRing(0, [](nbc_stage *stages, const std::string &good) {
    // SEND to 1 | SEND of what came from 3 ... : the first goes when something has come from 3,
    // which sends that when it has what 2 has from 1.
    ASSERT_EQ(stages[0].records, 1u) << good;
    stages[0].records = 0;
  });
  EXPECT_NE(said.find("of mq waits for the end of"), std::string::npos) << said;
  EXPECT_NE(said.find("ranks can wait for each other for ever"), std::string::npos) << said;
}

}  // namespace
}  // namespace nbcc
