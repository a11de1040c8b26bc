// SPDX-License-Identifier: BSD-3-Clause
// open.cpp - nbc_hca_open: adapters for communicators, on fabrics that a process has one of.
//
// A program may have hundreds of communicators. Their adapters share a fabric, so it is one thread
// that executes, and one place where others find the process.

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <mutex>
#include <new>
#include <system_error>

#include "devices/hca/hca.h"

namespace hca {

namespace {

struct Named {
  const char *name;
  nbc_hca_facts facts;
};

constexpr uint32_t logCq = 22;
constexpr int mostPorts = 16, usualPatience = 4, mostPatience = 1'000'000;  // microseconds

constexpr Named known[] = {
#define HCA_DEVICE(name, summary, gather, scatter, queue, inlined, calc, waits) \
  {name, {gather, scatter, queue, queue, logCq, calc, waits, 1}},
#include "nbc/hca_devices.def"
};

struct Asked {
  const Named *device = &known[0];
  uint64_t seed = 0;
  uint32_t ports = 1;
  int patience = usualPatience;
  bool operator==(const Asked &) const = default;
};

Options optionsOf(const Asked &a) {
  nbc_hca_facts facts = a.device->facts;
  facts.ports = a.ports;
  facts.patience = 1000 * static_cast<uint32_t>(a.patience);
  return {
      .seed = a.seed, .adversarial = a.seed != 0, .wire = true, .keepAlive = true, .facts = facts};
}

/// A fabric, for all adapters that were asked for alike.
struct Shared {
  Asked asked;
  Fabric fabric;
  std::list<nbc_hca *> adapters;
  explicit Shared(const Asked &a) : asked(a), fabric(optionsOf(a)) {}
};

// Never destroyed: a device may be closed by whatever ends last.
struct Process {
  std::mutex mutex;
  std::list<Shared> fabrics;
};
Process &process() {
  static Process *const only = new Process;
  return *only;
}

__attribute__((format(printf, 1, 2))) const char *say(const char *format, ...) {
  static thread_local char said[256];
  va_list values;
  va_start(values, format);
  vsnprintf(said, sizeof said, format, values);
  va_end(values);
  return said;
}

const Named *find(const char *name) {
  for (const Named &k : known)
    if (std::string(k.name) == name) return &k;
  return nullptr;
}

std::string names() {
  std::string all;
  for (const Named &k : known) all += (all.empty() ? "" : ", ") + std::string(k.name);
  return all;
}

/// What the environment says, if it does. False: `why` says what is wrong with it.
bool readNumber(const char *variable, int least, int most, int &number, const char *&why) {
  const char *text = std::getenv(variable);
  if (!text) return true;
  char *last;
  errno = 0;
  const long wanted = std::strtol(text, &last, 10);
  if (errno || last == text || *last || wanted < least || wanted > most) {
    why = say("%s is '%.64s'; it is to be %d to %d", variable, text, least, most);
    return false;
  }
  number = static_cast<int>(wanted);
  return true;
}

/// Null: `why` says it.
bool complete(const nbc_hca_options *given, Asked &asked, const char *&why) {
  const char *name = given ? given->device : nullptr, *from = "nbc_hca_options.device";
  if (!name) name = std::getenv(from = "NBC_HCA_DEVICE");
  if (name && !(asked.device = find(name))) {
    why = say("%s is '%.64s'; there are %s", from, name, names().c_str());
    return false;
  }
  int ports = 1;
  if (!readNumber("NBC_HCA_PORTS", 1, mostPorts, ports, why)) return false;
  asked.ports = static_cast<uint32_t>(ports);
  if (given && given->patience)
    asked.patience = std::max(given->patience, 0);
  else if (!readNumber("NBC_HCA_PATIENCE", 0, mostPatience, asked.patience, why))
    return false;
  if (asked.patience > mostPatience) {
    why = "nbc_hca_options.patience is out of range";
    return false;
  }
  asked.seed = given ? given->seed : 0;
  const char *seed = std::getenv("NBC_HCA_SEED");
  if (asked.seed || !seed) return true;
  char *end;
  errno = 0;
  asked.seed = std::strtoull(seed, &end, 10);
  if (!errno && end != seed && !*end && *seed != '-') return true;
  why = say("NBC_HCA_SEED is '%.64s'; it is to be a number", seed);
  return false;
}

void closeDevice(nbc_device *device) {
  auto *hca = reinterpret_cast<nbc_hca *>(device);
  std::list<Shared> ended;  // its thread is waited for without the lock
  Process &p = process();
  std::lock_guard guard(p.mutex);
  for (auto s = p.fabrics.begin(); s != p.fabrics.end(); ++s) {
    if (s->adapters.remove(hca) == 0) continue;
    s->fabric.removeAdapter(hca);
    if (s->adapters.empty()) ended.splice(ended.end(), p.fabrics, s);
    return;
  }
}

nbc_hca *open(const Asked &asked) {
  Process &p = process();
  std::lock_guard guard(p.mutex);
  auto s = p.fabrics.begin();
  while (s != p.fabrics.end() && !(s->asked == asked)) ++s;
  if (s == p.fabrics.end()) s = p.fabrics.emplace(s, asked);
  nbc_hca *hca = s->fabric.addAdapter();
  s->adapters.push_back(hca);
  hca->device.close = closeDevice;
  return hca;
}

}  // namespace

bool factsOf(const char *device, nbc_hca_facts &facts) {
  const Named *named = find(device);
  if (named) facts = named->facts;
  return named;
}

bool complete(const nbc_hca_options *given, Options &options, const char *&why) {
  Asked asked;
  if (!complete(given, asked, why)) return false;
  options = optionsOf(asked);
  return true;
}

}  // namespace hca

extern "C" int nbc_hca_open(const nbc_hca_options *options, nbc_device **device, const char **why) {
  using namespace hca;
  const char *nobodyAsks;
  if (!why) why = &nobodyAsks;
  *why = "";
  if (!device) {
    *why = "there is no place for the device";
    return NBC_ERROR_ARGUMENT;
  }
  try {
    Asked asked;
    if (!complete(options, asked, *why)) return NBC_ERROR_ARGUMENT;
    *device = &open(asked)->device;
    return NBC_OK;
  } catch (const std::system_error &e) {
    *why = say("the software HCA cannot begin: %s", e.what());
    return NBC_ERROR_RESOURCES;
  } catch (const std::bad_alloc &) {
    *why = "there is no more memory";
    return NBC_ERROR_MEMORY;
  }
}
