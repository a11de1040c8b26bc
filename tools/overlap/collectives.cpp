// SPDX-License-Identifier: BSD-3-Clause
// collectives.cpp - the table of collectives.def, and names that follow from it.

#include "tools/overlap/collectives.h"

#include <cctype>
#include <vector>

namespace nbcc::overlap {
namespace {

std::string small(std::string_view name) {
  std::string result(name);
  result[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(result[0])));
  return result;
}

std::vector<Collective> table() {
  constexpr bool yes = true, no = false;
  std::vector<Collective> all;
#define COLLECTIVE(name, arguments, same, knows)           \
  all.push_back({{#name, arguments}, same, Knows::knows}); \
  if (std::string_view(#name) != "Barrier")                \
    all.push_back({{#name, arguments}, same, Knows::knows, yes});
#include "tools/overlap/collectives.def"
  return all;
}

}  // namespace

std::string Collective::blocking() const {
  return "MPI_" + std::string(name) + (large ? "_c" : "");
}

std::string Collective::nonblocking() const {
  return "MPI_I" + small(name) + (large ? "_c" : "");
}

std::string Collective::persistent() const {
  return "MPI_" + std::string(name) + (large ? "_init_c" : "_init");
}

std::string Collective::request() const {
  return small(name) + "_request";
}

const Collective *findMaker(std::string_view function) {
  constexpr bool no = false;
  static constexpr Collective all[] = {
      {{"Comm_dup", "c-"}, no},
      {{"Comm_dup_with_info", "c--"}, no},
      {{"Comm_split", "c---"}, no},
      {{"Comm_split_type", "c----"}, no},
      {{"Comm_create", "c--"}, no},
      {{"Comm_create_group", "c---"}, no},
      {{"Cart_create", "c-----"}, no},
      {{"Cart_sub", "c--"}, no},
      {{"Graph_create", "c-----"}, no},
      {{"Dist_graph_create", "c--------"}, no},
      {{"Dist_graph_create_adjacent", "c---------"}, no},
  };
  for (const Collective &c : all)
    if (function == c.blocking()) return &c;
  return nullptr;
}

const Collective *findCollective(std::string_view function) {
  static const std::vector<Collective> all = table();
  for (const Collective &c : all)
    if (function == c.blocking()) return &c;
  return nullptr;
}

const Collective *findOrdered(std::string_view function) {
  const Collective *c = findCollective(function);
  return c ? c : findMaker(function);
}

}  // namespace nbcc::overlap
