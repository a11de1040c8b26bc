// SPDX-License-Identifier: BSD-3-Clause
// collectives.cpp - MPI's collectives, by both of their names, in all of their forms.

#include "dropin/calls.h"

using namespace nbcc::dropin;

#define ALL(...) __VA_ARGS__

#define BLOCKING(...) BLOCKING_(__VA_ARGS__)
#define BLOCKING_(name, parameters, arguments, operation) \
  extern "C" int name parameters {                        \
    auto pass = [&] { return PASS(name) arguments; };     \
    if (not_for_us()) return pass();                      \
    return blocking(operation, {#name, pass});            \
  }                                                       \
  ALSO(name)

#define NONBLOCKING(...) NONBLOCKING_(__VA_ARGS__)
#define NONBLOCKING_(name, parameters, arguments, operation)                  \
  extern "C" int name(ALL parameters, MPI_Request *request) {                 \
    auto pass = [=](MPI_Request *r) { return PASS(name)(ALL arguments, r); }; \
    if (not_for_us() || !request) return pass(request);                       \
    auto keep = [&] { return std::function<int(MPI_Request *)>(pass); };      \
    return nonblocking(operation, #name, pass, keep, request);                \
  }                                                                           \
  ALSO(name)

#define PERSISTENT(...) PERSISTENT_(__VA_ARGS__)
#define PERSISTENT_(name, parameters, arguments, operation)                         \
  extern "C" int name(ALL parameters, MPI_Info info, MPI_Request *request) {        \
    auto pass = [&](MPI_Request *r) { return PASS(name)(ALL arguments, info, r); }; \
    if (not_for_us() || !request) return pass(request);                             \
    return persistent(operation, #name, pass, request);                             \
  }                                                                                 \
  ALSO(name)

#if defined(OPEN_MPI)  // 4.1 has them as an extension
#define INIT(Name) MPIX_##Name##_init
#else
#define INIT(Name) MPI_##Name##_init
#endif

#define COUNT int
#define DISPLACEMENT int
#define COLLECTIVE(Name, name, parameters, arguments, operation) \
  BLOCKING(MPI_##Name, parameters, arguments, operation)         \
  NONBLOCKING(MPI_I##name, parameters, arguments, operation)     \
  PERSISTENT(INIT(Name), parameters, arguments, operation)
#define WITHOUT_COUNTS
#include "dropin/collectives.def"
#undef WITHOUT_COUNTS
#undef COUNT
#undef DISPLACEMENT

#if MPI_VERSION >= 4
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define COLLECTIVE(Name, name, parameters, arguments, operation) \
  BLOCKING(MPI_##Name##_c, parameters, arguments, operation)     \
  NONBLOCKING(MPI_I##name##_c, parameters, arguments, operation) \
  PERSISTENT(MPI_##Name##_init_c, parameters, arguments, operation)
#include "dropin/collectives.def"
#endif
