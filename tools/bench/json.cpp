// SPDX-License-Identifier: BSD-3-Clause
// json.cpp - all figures, with what they were measured on. Names end in their unit.

#include <nlohmann/json.hpp>
#include <ostream>

#include "nbc/transfer.h"
#include "tools/bench/report.h"

namespace nbcc::bench {
namespace {

using Json = nlohmann::ordered_json;

Json spread(const Spread &s) {
  return {{"median_us", s.median}, {"low_us", s.low}, {"high_us", s.high}, {"least_us", s.least}};
}

Json overlaps(const Result &r) {
  Json all = Json::array();
  for (const Overlap &o : r.overlaps)
    all.push_back({{"tests", o.tests},
                   {"calls", o.calls},
                   {"overlap", o.overlap},
                   {"overlap_low", o.low},
                   {"overlap_high", o.high},
                   {"total", spread(o.total)},
                   {"computing", spread(o.computing)},
                   {"latency_us", o.latency},
                   {"cpu_us", o.cpu}});
  return all;
}

Json result(const Result &r, bool samples) {
  Json j = {{"collective", r.collective->name},
            {"algorithm", r.algorithm},
            {"target", r.target.empty() ? Json() : Json(r.target)},
            {"transfer", r.transfer ? Json(nbc_transfer_name(r.transfer)) : Json()},
            {"nonblocking", r.nonblocking},
            {"bytes", r.bytes},
            {"correct", true},  // or there would be no figures
            {"calls", r.calls},
            {"start", spread(r.start)},
            {"latency", spread(r.latency)},
            {"cpu_us", r.cpu},
            {"overlap", overlaps(r)}};
  if (samples) j["samples"] = {{"start_us", r.starts}, {"latency_us", r.latencies}};
  return j;
}

}  // namespace

void writeJson(const Facts &f, const Options &o, const Computation &c,
               const std::vector<Skipped> &skipped, const std::vector<Result> &results,
               std::ostream &out) {
  Json j = {{"program", "nbc-bench"}, {"version", NBCC_VERSION}};
  j["mpi"] = {{"library", f.mpi}, {"thread_level", f.thread}};
  j["machine"] = {{"ranks", f.ranks}, {"ranks_of_node", f.ranksOfNode}, {"cores_of_node", f.cores}};
  if (!f.host.empty()) j["machine"]["host"] = f.host;
  j["options"] = {{"files", o.files},     {"type", o.typeName},
                  {"root", o.root},       {"barrier", o.barrierEach ? "call" : "batch"},
                  {"compute", o.compute}, {"yield", o.yields},
                  {"thread", o.thread}};
  if (o.calls)
    j["options"]["iterations"] = o.calls;
  else
    j["options"]["seconds"] = o.seconds;
  j["computation"] =
      o.tests.empty() || o.yields ? Json() : Json{{"alone_us", c.alone}, {"at_once_us", c.atOnce}};
  j["left_out"] = Json::array();
  for (const Skipped &s : skipped)
    j["left_out"].push_back({{"algorithm", s.name}, {"target", s.target}, {"why", s.why}});
  j["results"] = Json::array();
  for (const Result &r : results) j["results"].push_back(result(r, o.samples));
  out << j.dump(1) << "\n";
}

}  // namespace nbcc::bench
