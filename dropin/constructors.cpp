// SPDX-License-Identifier: BSD-3-Clause
// constructors.cpp - what makes communicators, and ends them.
//
// These calls wait for all ranks, and none has a form that does not: while a rank sits in one,
// calls of ours stand still that another rank waits for before it comes, unless the MPI moves them
// on there (attach_to_mpi). So ranks with such calls wait for all others first, in a loop of ours.
// Others cannot know whether there are any, so all tell that they come, always.

#include <algorithm>
#include <functional>
#include <new>
#include <numeric>
#include <string_view>
#include <vector>

#include "dropin/calls.h"
#include "dropin/communicator.h"
#include "dropin/types.h"

using namespace nbcc::dropin;

// What is in the queue may be the MPI's after all, and comes first.
static void go_ahead(Lock &lock, MPI_Comm comm) {
  empty_queue(lock, comm);
  for (unsigned round = 0; is_duplicated_before(comm); ++round) wait_a_while(lock, round);
}

void nbcc::dropin::gather(MPI_Comm comm) {
  if (not_for_us()) return;
  Lock lock;
  go_ahead(lock, comm);
  meet(lock, comm);
}

nbcc::dropin::Gathered::Gathered(MPI_Comm comm) {
  if (not_for_us()) return;
  Lock lock;
  go_ahead(lock, comm);
  coming_ = begin_to_meet(lock, comm);
  if (busy()) wait_below(lock, &coming_, MPI_STATUS_IGNORE);
}

nbcc::dropin::Gathered::~Gathered() {
  if (coming_ == MPI_REQUEST_NULL) return;
  Lock lock;
  wait_below(lock, &coming_, MPI_STATUS_IGNORE);
}

namespace {

// Before a communicator is freed: what the queue holds may need it.
void end_queue(const MPI_Comm *comm) {
  if (!comm || not_for_us() || !busy()) return;
  Lock lock;
  empty_queue(lock, *comm);
}

// What may bring processes of another world.
int with_others(int error, const MPI_Comm *made) {
  if (!error && !not_for_us()) look_for_other_worlds(*made);
  return error;
}

}  // namespace

// Not within the functions: a program's static objects may free communicators when it ends.
#define CONSTRUCTOR(name, parameters, arguments)               \
  static Constructor by_##name;                                \
  extern "C" int name parameters {                             \
    const Gathered all(comm);                                  \
    return made_by_all(PASS(name) arguments, made, by_##name); \
  }                                                            \
  ALSO(name)
CONSTRUCTOR(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
CONSTRUCTOR(MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made),
            (comm, info, made))
CONSTRUCTOR(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made),
            (comm, color, key, made))
CONSTRUCTOR(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
            (comm, type, key, info, made))
CONSTRUCTOR(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
CONSTRUCTOR(MPI_Cart_create,
            (MPI_Comm comm, int dimensions, const int sizes[], const int periodic[], int reorder,
             MPI_Comm *made),
            (comm, dimensions, sizes, periodic, reorder, made))
CONSTRUCTOR(MPI_Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made))
CONSTRUCTOR(MPI_Graph_create,
            (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder,
             MPI_Comm *made),
            (comm, nodes, index, edges, reorder, made))
CONSTRUCTOR(MPI_Dist_graph_create_adjacent,
            (MPI_Comm comm, int indegree, const int sources[], const int source_weights[],
             int outdegree, const int destinations[], const int destination_weights[],
             MPI_Info info, int reorder, MPI_Comm *made),
            (comm, indegree, sources, source_weights, outdegree, destinations, destination_weights,
             info, reorder, made))
CONSTRUCTOR(MPI_Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))

// Open MPI 4.1 receives edges from anyone, with tags that its nonblocking collectives have, too,
// when there have been some twenty on a communicator: it takes one for the other, and hangs. So it
// gets one on which there have been none.
static Constructor by_dist_graph;
extern "C" int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[],
                                     const int destinations[], const int weights[], MPI_Info info,
                                     int reorder, MPI_Comm *made) {
  const Gathered all(comm);
  const auto pass = [&](MPI_Comm of) {
    return PASS(MPI_Dist_graph_create)(of, n, sources, degrees, destinations, weights, info,
                                       reorder, made);
  };
#if defined(OPEN_MPI)
  MPI_Comm fresh = MPI_COMM_NULL;
  if (!not_for_us()) {
    Lock lock;
    fresh = same_group(lock, comm);
  }
  if (fresh != MPI_COMM_NULL) {
    MPI_Errhandler handler;
    int error = pass(fresh);
    PMPI_Comm_free(&fresh);
    if (error) return raise(comm, error);
    PMPI_Comm_get_errhandler(comm, &handler);
    PMPI_Comm_set_errhandler(*made, handler);
    PMPI_Errhandler_free(&handler);
    return made_by_all(MPI_SUCCESS, made, by_dist_graph);
  }
#endif
  return made_by_all(pass(comm), made, by_dist_graph);
}
ALSO(MPI_Dist_graph_create)

extern "C" int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
  const auto pass = [=](MPI_Request *r) { return PASS(MPI_Comm_idup)(comm, made, r); };
  return not_for_us() ? pass(request) : duplicating(comm, pass, request);
}
ALSO(MPI_Comm_idup)

#if MPI_VERSION >= 4
extern "C" int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made,
                                       MPI_Request *request) {
  const auto pass = [=](MPI_Request *r) {
    return PASS(MPI_Comm_idup_with_info)(comm, info, made, r);
  };
  return not_for_us() ? pass(request) : duplicating(comm, pass, request);
}
ALSO(MPI_Comm_idup_with_info)
#endif

// --- of ranks that have no communicator of their own yet ---

// What these know of each other is where they are in MPI_COMM_WORLD.

namespace {

MPI_Comm meeting_place = MPI_COMM_NULL;  // of MPI_COMM_WORLD's ranks, for messages of no bytes

// Where each of a group's ranks is; of other worlds' MPI_UNDEFINED.
std::vector<int> in_world(MPI_Group group) try {
  MPI_Group world;
  int ranks = 0;
  if (PMPI_Group_size(group, &ranks) || PMPI_Comm_group(MPI_COMM_WORLD, &world)) return {};
  std::vector<int> own(static_cast<std::size_t>(ranks)), there(own.size(), MPI_UNDEFINED);
  std::iota(own.begin(), own.end(), 0);
  PMPI_Group_translate_ranks(group, ranks, own.data(), world, there.data());
  PMPI_Group_free(&world);
  return there;
} catch (const std::bad_alloc &) {
  return {};
}

void tell(Lock &lock, int to, int from, int tag) {
  MPI_Request received, sent;
  if (PMPI_Irecv(nullptr, 0, MPI_BYTE, from, tag, meeting_place, &received)) return;
  if (!PMPI_Isend(nullptr, 0, MPI_BYTE, to, tag, meeting_place, &sent))
    wait_below(lock, &sent, MPI_STATUS_IGNORE);
  wait_below(lock, &received, MPI_STATUS_IGNORE);
}

// A dissemination barrier of a group's ranks, in whichever order it has them.
void gather(MPI_Group group, int tag) {
  int rank = MPI_UNDEFINED;
  if (not_for_us() || meeting_place == MPI_COMM_NULL || group == MPI_GROUP_NULL) return;
  std::vector<int> there = in_world(group);
  if (std::ranges::count(there, MPI_UNDEFINED) > 0) return;
  std::ranges::sort(there);
  if (PMPI_Comm_rank(meeting_place, &rank) || !std::ranges::binary_search(there, rank)) return;
  const auto own = static_cast<std::size_t>(std::ranges::lower_bound(there, rank) - there.begin());
  const std::size_t ranks = there.size();
  Lock lock;
  for (std::size_t step = 1; step < ranks; step *= 2)
    tell(lock, there[(own + step) % ranks], there[(own + ranks - step) % ranks], tag);
}

// Of two groups' leaders; `rank` is the other's.
void greet(MPI_Comm comm, int rank, int tag) {
  MPI_Group group;
  int two_groups = 0;
  if (not_for_us() || meeting_place == MPI_COMM_NULL || comm == MPI_COMM_NULL) return;
  if (PMPI_Comm_test_inter(comm, &two_groups)) return;
  if (two_groups ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) return;
  const std::vector<int> there = in_world(group);
  PMPI_Group_free(&group);
  if (rank < 0 || rank >= static_cast<int>(there.size())) return;  // MPI says so
  const int other = there[static_cast<std::size_t>(rank)];
  Lock lock;
  if (other != MPI_UNDEFINED) tell(lock, other, other, tag);
}

}  // namespace

void nbcc::dropin::open_meeting_place() {
  int ranks = 1;
  if (not_for_us() || PMPI_Comm_size(MPI_COMM_WORLD, &ranks) || ranks == 1) return;
  Lock lock;
  meeting_place = same_group(lock, MPI_COMM_WORLD);
  if (meeting_place == MPI_COMM_NULL) return;
  PMPI_Comm_set_errhandler(meeting_place, MPI_ERRORS_RETURN);
  ask_types_by(meeting_place);
}

void nbcc::dropin::close_meeting_place() {
  ask_types_by(MPI_COMM_NULL);
  if (meeting_place != MPI_COMM_NULL) PMPI_Comm_free(&meeting_place);
}

static Constructor by_group;
extern "C" int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made) {
  gather(group, tag);
  return made_by_all(PASS(MPI_Comm_create_group)(comm, group, tag, made), made, by_group);
}
ALSO(MPI_Comm_create_group)

#if MPI_VERSION >= 4
static int tag_of(const char *words) {
  return words ? static_cast<int>(std::hash<std::string_view>()(words) & 0x7fff) : 0;
}

extern "C" int MPI_Comm_create_from_group(MPI_Group group, const char *words, MPI_Info info,
                                          MPI_Errhandler handler, MPI_Comm *made) {
  gather(group, tag_of(words));
  return made_by_all(PASS(MPI_Comm_create_from_group)(group, words, info, handler, made), made,
                     by_group);
}
ALSO(MPI_Comm_create_from_group)

extern "C" int MPI_Intercomm_create_from_groups(MPI_Group group, int leader, MPI_Group others,
                                                int other_leader, const char *words, MPI_Info info,
                                                MPI_Errhandler handler, MPI_Comm *made) {
  MPI_Group all;
  if (!not_for_us() && !PMPI_Group_union(group, others, &all)) {
    gather(all, tag_of(words));
    PMPI_Group_free(&all);
  }
  return with_others(PASS(MPI_Intercomm_create_from_groups)(group, leader, others, other_leader,
                                                            words, info, handler, made),
                     made);
}
ALSO(MPI_Intercomm_create_from_groups)
#endif

extern "C" int MPI_Intercomm_create(MPI_Comm comm, int leader, MPI_Comm between, int other_leader,
                                    int tag, MPI_Comm *made) {
  int rank = MPI_UNDEFINED;
  gather(comm);
  if (!not_for_us() && comm != MPI_COMM_NULL && !PMPI_Comm_rank(comm, &rank) && rank == leader)
    greet(between, other_leader, tag);
  gather(comm);
  return with_others(PASS(MPI_Intercomm_create)(comm, leader, between, other_leader, tag, made),
                     made);
}
ALSO(MPI_Intercomm_create)

// --- with other worlds: those of this one meet ---

#define GATHERED(name, parameters, arguments)       \
  extern "C" int name parameters {                  \
    gather(comm);                                   \
    return with_others(PASS(name) arguments, made); \
  }                                                 \
  ALSO(name)
GATHERED(MPI_Comm_spawn,
         (const char *command, char *words[], int most, MPI_Info info, int root, MPI_Comm comm,
          MPI_Comm *made, int errors[]),
         (command, words, most, info, root, comm, made, errors))
GATHERED(MPI_Comm_spawn_multiple,
         (int count, char *commands[], char **words[], const int most[], const MPI_Info infos[],
          int root, MPI_Comm comm, MPI_Comm *made, int errors[]),
         (count, commands, words, most, infos, root, comm, made, errors))
GATHERED(MPI_Comm_accept,
         (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
         (port, info, root, comm, made))
GATHERED(MPI_Comm_connect,
         (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
         (port, info, root, comm, made))

extern "C" int MPI_Comm_join(int file, MPI_Comm *made) {
  return with_others(PASS(MPI_Comm_join)(file, made), made);
}
ALSO(MPI_Comm_join)

// --- the end ---

// MPI_Comm_free is allowed to wait for all ranks.
extern "C" int MPI_Comm_free(MPI_Comm *comm) {
  end_queue(comm);
  return PASS(MPI_Comm_free)(comm);
}
ALSO(MPI_Comm_free)

extern "C" int MPI_Comm_disconnect(MPI_Comm *comm) {
  if (comm) gather(*comm);
  return PASS(MPI_Comm_disconnect)(comm);
}
ALSO(MPI_Comm_disconnect)

#if !defined(OPEN_MPI)
// MPI_Comm_idup copies attributes by these.
#define ATTRIBUTES(name, Copy, Delete)                                          \
  extern "C" int name(Copy *copy, Delete *gone, int *made, void *extra_state) { \
    if (copy && !not_for_us()) {                                                \
      Lock lock;                                                                \
      Communicator::attributes_are_copied();                                    \
    }                                                                           \
    return PASS(name)(copy, gone, made, extra_state);                           \
  }                                                                             \
  ALSO(name)
ATTRIBUTES(MPI_Comm_create_keyval, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function)
ATTRIBUTES(MPI_Keyval_create, MPI_Copy_function, MPI_Delete_function)
#endif
