// SPDX-License-Identifier: BSD-3-Clause
// environment.cpp - the adapters of a process without a Fabric, as its environment names them.
//
//   NBC_SISCI_DOMAIN=NAME  a user's processes with the same name are in one network  [default]
//   NBC_SISCI_ADAPTERS=N   adapters 0 to N - 1  [1]
//   NBC_SISCI_NODE=ID      of adapter 0; the next ones have ID + 4, ...  [the next that are free]
//   NBC_SISCI_SEED=N       of an adversary (sisci.h); without it, everything is done at once
//   NBC_SISCI_FAULTS=N     of whom one of so many stores and transfers fails; 0: none  [32]
//   NBC_SISCI_ALIGNMENT=N  of DMA: sizes and offsets  [8]
//   NBC_SISCI_VECTOR=N     elements of a DMA vector, at most  [256]
//
// A process that forks keeps its place in the network as long as the child lives, unless that
// executes another program; the child itself must not call.

#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "devices/sisci/engine.h"

namespace sisci {

namespace {

/// True: it is not set, or a number in the range given.
template <class T>
bool number(const char *name, T &value, uint64_t least, uint64_t most) {
  const char *text = std::getenv(name);
  if (!text) return true;
  uint64_t n = 0;
  const char *end = text + std::strlen(text);
  auto [at, error] = std::from_chars(text, end, n);
  if (error == std::errc() && at == end && n >= least && n <= most) {
    value = static_cast<T>(n);
    return true;
  }
  std::fprintf(stderr, "sisci: %s is '%s', not a number from %llu to %llu\n", name, text,
               static_cast<unsigned long long>(least), static_cast<unsigned long long>(most));
  return false;
}

bool isName(const std::string &name) {
  if (name.empty() || name.size() > 64) return false;
  for (char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.')
      return false;
  return true;
}

}  // namespace

sci_error_t openEnvironment(Library &lib) {
  const char *given = std::getenv("NBC_SISCI_DOMAIN");
  const std::string name = given ? given : "default";
  uint32_t adapters = 1, node = 0;
  Options options;
  Facts &facts = options.facts;
  options.adversarial = std::getenv("NBC_SISCI_SEED") != nullptr;
  if (!isName(name)) {
    std::fprintf(stderr,
                 "sisci: NBC_SISCI_DOMAIN is '%s', not a name of letters, digits, -, _, .\n",
                 name.c_str());
    return SCI_ERR_SYSTEM;
  }
  if (!number("NBC_SISCI_ADAPTERS", adapters, 1, 64) ||
      !number("NBC_SISCI_NODE", node, 1, 0xffff) ||
      !number("NBC_SISCI_SEED", options.seed, 0, UINT64_MAX) ||
      !number("NBC_SISCI_FAULTS", options.faults, 0, UINT32_MAX) ||
      !number("NBC_SISCI_ALIGNMENT", facts.alignment, 1, 4096) ||
      !number("NBC_SISCI_VECTOR", facts.longestVector, 1, DIS_DMA_MAX_VECLEN))
    return SCI_ERR_SYSTEM;

  std::unique_ptr<DomainFile> file;
  if (sci_error_t error = DomainFile::open(name, file); error != SCI_ERR_OK) return error;
  // Processes with one seed are not to do the same.
  options.seed ^= uint64_t{file->process()} << 32;
  auto network = std::make_unique<Network>(options, std::move(file));
  for (uint32_t a = 0; a < adapters; ++a) {
    DomainLock guard(network->domain);
    const uint32_t id = node ? node + 4 * a : 0;
    const uint32_t slot = takeNode(network->domain, network->process, id);
    if (slot == none) {
      const uint32_t other = id ? nodeWithId(network->domain, id) : none;
      if (other != none)
        std::fprintf(stderr, "sisci: node %u of network '%s' is process %d already\n", id,
                     name.c_str(),
                     network->domain.processes[network->domain.nodes[other].process].pid);
      else
        std::fprintf(stderr, "sisci: network '%s' has no room for another node\n", name.c_str());
      return SCI_ERR_NOSPC;
    }
    network->adapters.push_back({network.get(), a, a, slot});
  }
  for (Adapter &a : network->adapters) lib.adapters[a.number] = &a;
  lib.networks.push_back(network.get());
  network->startService();
  lib.environment = std::move(network);
  return SCI_ERR_OK;
}

}  // namespace sisci
