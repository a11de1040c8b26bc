// SPDX-License-Identifier: BSD-3-Clause
// build_template.cpp - nbc_build_template(): from a library's `build` to the template of one rank;
// and nbc_build_check(): what can be said of it before.
//
// The C face of elaborate, passes and codegen. What a caller asks for is checked here, as the
// stages only assert it; what the stages refuse comes back as text. No exception leaves it.

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <sstream>

#include "compiler/abi/version.h"
#include "compiler/elaborate/elaborate.h"
#include "compiler/shipped/algorithm_of.h"
#include "compiler/shipped/refused.h"
#include "compiler/templates/template_maker.h"
#include "nbc/build.h"

namespace nbcc {
namespace {

constexpr uint32_t kMostDimensions = 64;

struct Platform {
  const Target *target = nullptr;
  TargetOptions options;
};

Platform platformOf(const nbc_library &lib, const nbc_build_request &request) {
  for (const nbc_library_target &t : entries<nbc_library_target>(lib, lib.targets)) {
    if (std::strcmp(nbc_library_text(&lib, t.name), request.target) != 0 ||
        t.lengths != static_cast<uint32_t>(request.lengths))
      continue;
    Platform p;
    p.target = findTarget(request.target);
    if (!p.target) refuse(NBC_ERROR_LIBRARY, "no target ", request.target, " is built here");
    const char *device = nbc_library_text(&lib, t.device);
    p.options.device = findDevice(*p.target, device);
    if (!p.options.device)
      refuse(NBC_ERROR_LIBRARY, request.target, " knows no device ", device, " here");
    p.options.protocol = static_cast<Protocol>(t.protocol);
    p.options.depth = static_cast<int>(t.depth);
    p.options.slotPerBlock = t.slot_per_block != 0;
    p.options.lengths = t.lengths == NBC_LENGTHS_EACH ? Blocks::each : Blocks::equal;
    return p;
  }
  refuse(NBC_ERROR_ARGUMENT, "the library ", lib.name, " was not made for ", request.target,
         " with blocks ",
         request.lengths == NBC_LENGTHS_EACH ? "of lengths of their own" : "equally long");
}

Graph graphOf(const nbc_build_graph &given, uint32_t ranks) {
  if (given.dimensions > 0) {
    if (given.dimensions > kMostDimensions || !given.sizes || !given.periodic)
      refuse(NBC_ERROR_ARGUMENT, given.dimensions, " dimensions of a grid; at most ",
             kMostDimensions, ", each with a size");
    std::vector<Graph::Dimension> dimensions;
    uint64_t all = 1;
    for (uint32_t i = 0; i < given.dimensions; ++i) {
      if (given.sizes[i] < 1) refuse(NBC_ERROR_ARGUMENT, "a dimension of ", given.sizes[i]);
      dimensions.push_back({given.sizes[i], given.periodic[i] != 0});
      all = std::min<uint64_t>(all * static_cast<uint64_t>(given.sizes[i]), UINT32_MAX);
    }
    if (all != ranks) refuse(NBC_ERROR_ARGUMENT, "a grid of ", all, " for ", ranks, " ranks");
    return Graph::cartesian(dimensions);
  }
  if (!given.of) refuse(NBC_ERROR_ARGUMENT, "a graph without dimensions or neighbours");
  std::vector<Neighbors> all(ranks);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const nbc_build_neighbors &n = given.of[rank];
    if ((n.indegree && !n.sources) || (n.outdegree && !n.destinations))
      refuse(NBC_ERROR_ARGUMENT, "rank ", rank, " has a null list of neighbours");
    const auto checked = [&](int32_t peer) {
      if (peer < kNobody || peer >= static_cast<int64_t>(ranks))
        refuse(NBC_ERROR_ARGUMENT, "rank ", rank, " has a neighbour ", peer, " of ", ranks);
      return peer;
    };
    for (uint32_t i = 0; i < n.indegree; ++i) all[rank].sources.push_back({checked(n.sources[i])});
    for (uint32_t i = 0; i < n.outdegree; ++i)
      all[rank].destinations.push_back(checked(n.destinations[i]));
  }
  if (const Mismatch m = mismatch(all); m.any())
    refuse(NBC_ERROR_ARGUMENT, "rank ", m.from, " names ", m.to, " as destination ",
           m.asDestination, " times, which names it as source ", m.asSource, " times");
  return Graph::distributed(std::move(all));
}

Topology topologyOf(const int32_t *nodeOf, uint32_t ranks) {
  for (uint32_t rank = 0; rank < ranks; ++rank)
    if (nodeOf[rank] < 0) refuse(NBC_ERROR_ARGUMENT, "rank ", rank, " is on node ", nodeOf[rank]);
  return Topology({nodeOf, nodeOf + ranks});
}

const nbc_library_algorithm &algorithmOf(const nbc_library &lib, const nbc_build_request &r,
                                         bool graphNeeded) {
  const nbc_library_algorithm *a = nbc_library_named(&lib, r.algorithm);
  if (!a) refuse(NBC_ERROR_ARGUMENT, "the library ", lib.name, " holds no algorithm ", r.algorithm);
  const bool rooted = a->where != 0;
  if (r.ranks == 0 || r.ranks > kMaxBlocks || r.rank >= r.ranks || (rooted && r.root >= r.ranks))
    refuse(NBC_ERROR_ARGUMENT, "rank ", r.rank, " of ", r.ranks,
           rooted ? cat(", root ", r.root) : "");
  if (r.lengths == NBC_LENGTHS_EACH && !(a->flags & NBC_LIBRARY_ANY_LENGTHS))
    refuse(NBC_ERROR_UNSUPPORTED, r.algorithm,
           " was not proven to be right where blocks differ in length");
  if (r.parameters && r.parameter_count && r.parameter_count != a->parameters.count)
    refuse(NBC_ERROR_ARGUMENT, r.algorithm, " has ", a->parameters.count, " parameters; ",
           r.parameter_count, " were given");
  if (a->flags & NBC_LIBRARY_TOPOLOGY && !r.node_of)
    refuse(NBC_ERROR_UNSUPPORTED, r.algorithm, " asks where the ranks are: node_of is to say it");
  if (a->flags & NBC_LIBRARY_NEIGHBORS && graphNeeded && !r.graph)
    refuse(NBC_ERROR_UNSUPPORTED, r.algorithm, " asks who are neighbours: graph is to say it");
  return *a;
}

/// What the stages are given; it points into itself.
struct Prepared {
  Prepared() = default;
  Prepared(const Prepared &) = delete;

  Platform platform;
  CompiledAlgorithm compiled;
  Request request;
  std::optional<Topology> topology;
  std::optional<Graph> graph;
};

/// Whether `requires` holds, too; else `diag` says why. `graphNeeded`: steps will be made.
void prepare(const nbc_library &lib, const nbc_build_request &r, bool graphNeeded, Prepared &p,
             Diag &diag) {
  if (lib.build_version != kBuildVersion)
    refuse(NBC_ERROR_LIBRARY, "the library ", lib.name, " was made by ", lib.compiler,
           ", whose `build` functions call what is not called so here");
  const nbc_library_algorithm &a = algorithmOf(lib, r, graphNeeded);
  p.platform = platformOf(lib, r);
  fill(p.compiled, lib, a);
  p.request.ranks = r.ranks;
  for (uint32_t i = 0; i < a.parameters.count; ++i)
    p.request.parameters.push_back(
        r.parameters
            ? r.parameters[i]
            : entries<nbc_library_parameter>(lib, lib.parameters)[a.parameters.begin + i].value);
  if (r.node_of) p.request.topology = &p.topology.emplace(topologyOf(r.node_of, r.ranks));
  p.platform.options.topology = p.request.topology;
  p.platform.options.within = r.within != 0;
  if (a.flags & NBC_LIBRARY_NEIGHBORS && r.graph)
    p.request.graph = &p.graph.emplace(graphOf(*r.graph, r.ranks));

  nameSources(diag, lib);
  Loc why;
  const std::optional<bool> applies = nbcc::applies(p.compiled, p.request, Limits(), diag, &why);
  if (applies && !*applies)
    diag.error(why, p.compiled.name, " requires this, which does not hold for ", r.ranks, " ranks");
}

Template build(const nbc_library &lib, const nbc_build_request &r, std::ostream &said) {
  Diag diag(said);
  Prepared p;
  prepare(lib, r, true, p, diag);
  std::optional<Template> made;
  if (diag.ok()) {
    const Limits limits;
    TemplateMaker maker(
        [&](int64_t ranks, int64_t rank, int64_t root) {
          p.request.ranks = ranks, p.request.rank = rank, p.request.root = root;
          return elaborate(p.compiled, p.request, limits, diag);
        },
        false, diag);
    made = maker.make({r.ranks, r.rank, p.compiled.collective.hasRoot() ? r.root : 0},
                      p.compiled.collective, true, *p.platform.target, p.platform.options);
  }
  if (!made) refuse(NBC_ERROR_UNSUPPORTED, "");  // what was said is in `said`
  return std::move(*made);
}

void tell(const std::string &text, char *why, size_t capacity) {
  if (!why || capacity == 0) return;
  const size_t length = std::min(text.size(), capacity - 1);
  std::memcpy(why, text.data(), length);
  why[length] = 0;
}

/// Runs `work`, which adds to what was said; what it throws becomes a status and `why`.
template <class Work>
int guarded(char *why, size_t capacity, Work work) {
  std::ostringstream said;
  try {
    work(said);
    tell("", why, capacity);
    return NBC_OK;
  } catch (const Refused &refused) {
    tell(refused.why.empty() ? said.str() : refused.why, why, capacity);
    return refused.status;
  } catch (const std::bad_alloc &) {
    tell("no memory is left", why, capacity);
    return NBC_ERROR_MEMORY;
  } catch (const std::exception &e) {
    tell(e.what(), why, capacity);
    return NBC_ERROR_RESOURCES;
  }
}

}  // namespace
}  // namespace nbcc

extern "C" int nbc_build_template(const nbc_library *lib, const nbc_build_request *request,
                                  void **result, size_t *bytes, char *why, size_t capacity) {
  using namespace nbcc;
  return guarded(why, capacity, [&](std::ostream &said) {
    if (!lib || !request || !request->algorithm || !request->target || !result || !bytes)
      refuse(NBC_ERROR_ARGUMENT, "no library, request or place for the result");
    const Template made = build(*lib, *request, said);
    void *copy = std::malloc(made.bytes);
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, made.data(), made.bytes);
    *result = copy;
    *bytes = made.bytes;
  });
}

extern "C" int nbc_build_check(const nbc_library *lib, const nbc_build_request *request, char *why,
                               size_t capacity) {
  using namespace nbcc;
  return guarded(why, capacity, [&](std::ostream &said) {
    if (!lib || !request || !request->algorithm || !request->target)
      refuse(NBC_ERROR_ARGUMENT, "no library or request");
    Diag diag(said);
    Prepared prepared;
    prepare(*lib, *request, false, prepared, diag);
    if (!diag.ok()) refuse(NBC_ERROR_UNSUPPORTED, "");
  });
}
