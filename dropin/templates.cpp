// SPDX-License-Identifier: BSD-3-Clause
// templates.cpp - by all that nbc_build_template() is asked for.

#include "dropin/templates.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <new>
#include <string_view>

#include "dropin/shipped.h"

namespace nbcc::dropin {

namespace {

constexpr std::size_t most_kept = std::size_t{8} << 20;  // bytes

std::map<std::string, Template> kept;
std::size_t kept_bytes = 0;

void add(std::string &key, const void *data, std::size_t bytes) {
  key.append(static_cast<const char *>(data), bytes);
}

std::string key_of(const nbc_build_request &r) {
  std::string key = r.algorithm;
  key += '\0';
  key += r.target;
  key += '\0';
  const std::uint32_t numbers[] = {r.lengths, r.ranks, r.rank, r.root, r.within};
  add(key, numbers, sizeof numbers);
  add(key, r.parameters, r.parameter_count * sizeof *r.parameters);
  const auto is_first = [](std::int32_t node) { return node == 0; };
  if (r.node_of && !std::all_of(r.node_of, r.node_of + r.ranks, is_first))
    add(key, r.node_of, r.ranks * sizeof *r.node_of);
  return key;
}

void keep(std::string key, const Template &t) {
  if (kept_bytes + t.bytes > most_kept) {
    kept.clear();
    kept_bytes = 0;
  }
  if (t.bytes <= most_kept && kept.emplace(std::move(key), t).second) kept_bytes += t.bytes;
}

}  // namespace

int find_template(const nbc_build_request &r, Template &found, std::string &why) try {
  const std::string key = r.graph ? "" : key_of(r);
  if (const auto at = kept.find(key); at != kept.end()) {
    found = at->second;
    return 0;
  }
  char text[512] = "";
  void *data = nullptr;
  const int status = nbc_build_template(shipped(), &r, &data, &found.bytes, text, sizeof text);
  if (status) {
    why = std::string_view(text).substr(0, std::string_view(text).find('\n'));
    return status;
  }
  found.data.reset(static_cast<const void *>(data),
                   [](const void *p) { std::free(const_cast<void *>(p)); });
  if (!r.graph) keep(key, found);
  return 0;
} catch (const std::bad_alloc &) {
  return NBC_ERROR_MEMORY;
}

}  // namespace nbcc::dropin
