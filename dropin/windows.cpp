// SPDX-License-Identifier: BSD-3-Clause
// windows.cpp - calls of windows and files that wait for other ranks.
//
// To make one all ranks meet first, as in constructors.cpp. In a fence that would cost as much as
// the fence; so each rank says, by a barrier of the MPI's that it begins and goes on, that it has
// come, and only a rank that has calls of ours under way waits until it knows that of all, moving
// them on. Who has none is moved on, within the MPI, by the MPI: the barrier's rounds are. Where
// the MPI moves our calls on as well (attach_to_mpi), nobody says so, and nobody waits.
//
// Of what origin and target do with each other MPI_Win_wait alone has a form that does not wait.
// Not covered elsewhere: MPI_Win_start, MPI_Win_complete, locks and flushes, if they wait.

#include <map>
#include <memory>
#include <new>

#include "dropin/calls.h"
#include "dropin/communicator.h"

using namespace nbcc::dropin;

namespace {

/// The ranks of a window or file, and how far they have come.
class Meeting {
 public:
  explicit Meeting(MPI_Comm context) : context_(context) {}
  Meeting(const Meeting &) = delete;
  Meeting &operator=(const Meeting &) = delete;

  void come(Lock &lock) {
    wait_below(lock, &last_, MPI_STATUS_IGNORE);  // all have come to that one, or it had not ended
    if (PMPI_Ibarrier(context_, &last_)) last_ = MPI_REQUEST_NULL;
    if (busy()) wait_below(lock, &last_, MPI_STATUS_IGNORE);
  }
  void end(Lock &lock) {
    wait_below(lock, &last_, MPI_STATUS_IGNORE);
    PMPI_Comm_free(&context_);
  }

 private:
  MPI_Comm context_;
  MPI_Request last_ = MPI_REQUEST_NULL;
};

/// Those of all windows, or files, that there are.
template <class Handle>
class Meetings {
 public:
  /// All ranks have just made it.
  int made(int error, MPI_Comm comm, const Handle *handle) {
    int ranks = 1;
    if (error || not_for_us() || is_attached_everywhere()) return error;
    if (PMPI_Comm_size(comm, &ranks) || ranks == 1) return error;
    Lock lock;
    MPI_Comm context = same_group(lock, comm);
    if (context == MPI_COMM_NULL) return error;
    try {
      all_.insert_or_assign(*handle, std::make_shared<Meeting>(context));
    } catch (const std::bad_alloc &) {
      PMPI_Comm_free(&context);
    }
    return error;
  }

  void come(Handle handle) {
    if (not_for_us()) return;
    Lock lock;
    if (const std::shared_ptr<Meeting> m = find(handle)) m->come(lock);
  }

  /// It has been freed.
  int ended(int error, Handle handle) {
    if (error || not_for_us()) return error;
    Lock lock;
    const std::shared_ptr<Meeting> m = find(handle);
    all_.erase(handle);
    if (m) m->end(lock);
    return error;
  }

 private:
  std::shared_ptr<Meeting> find(Handle handle) const {
    const auto found = all_.find(handle);
    return found == all_.end() ? nullptr : found->second;
  }
  std::map<Handle, std::shared_ptr<Meeting>> all_;
};

Meetings<MPI_Win> windows;
Meetings<MPI_File> files;

}  // namespace

#define MADE(of, name, parameters, arguments)         \
  extern "C" int name parameters {                    \
    gather(comm);                                     \
    return of.made(PASS(name) arguments, comm, made); \
  }                                                   \
  ALSO(name)
#define COLLECTIVE(of, name, parameters, arguments) \
  extern "C" int name parameters {                  \
    of.come(handle);                                \
    return PASS(name) arguments;                    \
  }                                                 \
  ALSO(name)
#define ENDED(of, name, Handle)                 \
  extern "C" int name(Handle *handle) {         \
    if (!handle) return PASS(name)(handle);     \
    const Handle freed = *handle;               \
    of.come(freed);                             \
    return of.ended(PASS(name)(handle), freed); \
  }                                             \
  ALSO(name)

// --- windows ---

MADE(windows, MPI_Win_create,
     (void *base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *made),
     (base, bytes, unit, info, comm, made))
MADE(windows, MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *made),
     (info, comm, made))
MADE(windows, MPI_Win_allocate,
     (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),
     (bytes, unit, info, comm, base, made))
MADE(windows, MPI_Win_allocate_shared,
     (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),
     (bytes, unit, info, comm, base, made))
#if MPI_VERSION >= 4
MADE(windows, MPI_Win_create_c,
     (void *base, MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win *made),
     (base, bytes, unit, info, comm, made))
MADE(windows, MPI_Win_allocate_c,
     (MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),
     (bytes, unit, info, comm, base, made))
MADE(windows, MPI_Win_allocate_shared_c,
     (MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),
     (bytes, unit, info, comm, base, made))
#endif
COLLECTIVE(windows, MPI_Win_fence, (int assert, MPI_Win handle), (assert, handle))
ENDED(windows, MPI_Win_free, MPI_Win)

extern "C" int MPI_Win_wait(MPI_Win window) {
  if (not_for_us() || !busy()) return PASS(MPI_Win_wait)(window);
  Lock lock;
  for (unsigned round = 0;; ++round) {
    int done = 0;
    const int error = PMPI_Win_test(window, &done);
    if (error || done) return error;
    wait_a_while(lock, round);
  }
}
ALSO(MPI_Win_wait)

// --- files ---

MADE(files, MPI_File_open,
     (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *made),
     (comm, name, mode, info, made))
ENDED(files, MPI_File_close, MPI_File)
COLLECTIVE(files, MPI_File_set_size, (MPI_File handle, MPI_Offset bytes), (handle, bytes))
COLLECTIVE(files, MPI_File_preallocate, (MPI_File handle, MPI_Offset bytes), (handle, bytes))
COLLECTIVE(files, MPI_File_set_info, (MPI_File handle, MPI_Info info), (handle, info))
COLLECTIVE(files, MPI_File_set_view,
           (MPI_File handle, MPI_Offset offset, MPI_Datatype element, MPI_Datatype type,
            const char *form, MPI_Info info),
           (handle, offset, element, type, form, info))
COLLECTIVE(files, MPI_File_set_atomicity, (MPI_File handle, int atomic), (handle, atomic))
COLLECTIVE(files, MPI_File_sync, (MPI_File handle), (handle))
COLLECTIVE(files, MPI_File_seek_shared, (MPI_File handle, MPI_Offset offset, int from),
           (handle, offset, from))

// What reads and writes: at the file pointer or where the ranks' order leaves it, and at an offset;
// whole, and in two parts.
#define MOVED(c, COUNT, direction, Buffer)                                                        \
  MOVED_BY(c, COUNT, direction##_all, Buffer)                                                     \
  MOVED_BY(c, COUNT, direction##_ordered, Buffer)                                                 \
  COLLECTIVE(files, MPI_File_##direction##_at_all##c,                                             \
             (MPI_File handle, MPI_Offset offset, Buffer buffer, COUNT count, MPI_Datatype type,  \
              MPI_Status * status),                                                               \
             (handle, offset, buffer, count, type, status))                                       \
  COLLECTIVE(files, MPI_File_##direction##_at_all_begin##c,                                       \
             (MPI_File handle, MPI_Offset offset, Buffer buffer, COUNT count, MPI_Datatype type), \
             (handle, offset, buffer, count, type))
#define MOVED_BY(c, COUNT, way, Buffer)                                                      \
  COLLECTIVE(                                                                                \
      files, MPI_File_##way##c,                                                              \
      (MPI_File handle, Buffer buffer, COUNT count, MPI_Datatype type, MPI_Status * status), \
      (handle, buffer, count, type, status))                                                 \
  COLLECTIVE(files, MPI_File_##way##_begin##c,                                               \
             (MPI_File handle, Buffer buffer, COUNT count, MPI_Datatype type),               \
             (handle, buffer, count, type))
MOVED(, int, read, void *)
MOVED(, int, write, const void *)
#if MPI_VERSION >= 4
MOVED(_c, MPI_Count, read, void *)
MOVED(_c, MPI_Count, write, const void *)
#endif

#define SECOND_PART(way, Buffer)                                                                 \
  COLLECTIVE(files, MPI_File_##way##_end, (MPI_File handle, Buffer buffer, MPI_Status * status), \
             (handle, buffer, status))
SECOND_PART(read_all, void *)
SECOND_PART(read_at_all, void *)
SECOND_PART(read_ordered, void *)
SECOND_PART(write_all, const void *)
SECOND_PART(write_at_all, const void *)
SECOND_PART(write_ordered, const void *)

// These do not wait, but MPICH carries them out by collective calls that bear MPI's names: its own.
#define STARTED(c, COUNT, direction, Buffer)                                                      \
  extern "C" int MPI_File_i##direction##_all##c(MPI_File file, Buffer buffer, COUNT count,        \
                                                MPI_Datatype type, MPI_Request *request) {        \
    return PASS(MPI_File_i##direction##_all##c)(file, buffer, count, type, request);              \
  }                                                                                               \
  ALSO(MPI_File_i##direction##_all##c)                                                            \
  extern "C" int MPI_File_i##direction##_at_all##c(MPI_File file, MPI_Offset offset,              \
                                                   Buffer buffer, COUNT count, MPI_Datatype type, \
                                                   MPI_Request *request) {                        \
    return PASS(MPI_File_i##direction##_at_all##c)(file, offset, buffer, count, type, request);   \
  }                                                                                               \
  ALSO(MPI_File_i##direction##_at_all##c)
STARTED(, int, read, void *)
STARTED(, int, write, const void *)
#if MPI_VERSION >= 4
STARTED(_c, MPI_Count, read, void *)
STARTED(_c, MPI_Count, write, const void *)
#endif
