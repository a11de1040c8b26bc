// SPDX-License-Identifier: BSD-3-Clause
// outline.cpp - what is refused, and why; how many bytes an algorithm is chosen by; where blocks
// lie; who waits for whom, and who therefore yields in a barrier.
//
//   mpirun -n 1 dropin-outline
//
// Nothing is sent: calls are looked at as if on one of four ranks.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "dropin/courtesy.h"
#include "dropin/data.h"
#include "dropin/shapes.h"

using namespace nbcc::dropin;

namespace {

#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) {                                                          \
      std::fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

int a[64], b[64];
MPI_Datatype gaps;  // 8 bytes in 12

Side side(const void *buffer, std::int64_t count, MPI_Datatype type = MPI_INT) {
  return {.buffer = buffer, .count = count, .type = type};
}

Operation call(nbc_kind kind, const Side &send, const Side &receive, int root = 0) {
  Operation o;
  o.kind = kind;
  o.send = send;
  o.receive = receive;
  o.root = root;
  return o;
}

Operation reduction(nbc_kind kind, const Side &send, const Side &receive, MPI_Op op = MPI_SUM) {
  Operation o = call(kind, send, receive);
  o.op = op;
  return o;
}

std::string why(const Operation &o, int rank = 1) {
  const char *refusal = outline(o, rank, 4, 2, 2).refusal;
  return refusal ? refusal : "";
}

std::uint64_t bytes(const Operation &o, int rank) {
  CHECK(why(o, rank).empty());
  return outline(o, rank, 4).bytes;
}

std::uint64_t counted(const Operation &o, int rank) {
  CHECK(why(o, rank).empty());
  return outline(o, rank, 4, 2, 2).counted();
}

void refusals() {
  const Side in = side(a, 2), out = side(b, 2), none = side(nullptr, 0);
  auto allgather = [&](const Side &s, const Side &r) { return why(call(NBC_ALLGATHER, s, r)); };
  CHECK(allgather(in, out) == "");
  CHECK(allgather(none, none) == "");
  CHECK(allgather(side(a, 2, MPI_DATATYPE_NULL), out) == "a null datatype");
  CHECK(allgather(in, side(b, -2)) == "a negative count");
  CHECK(allgather(side(nullptr, 2), out) == "no buffer where there is data");
  CHECK(allgather(in, side(MPI_IN_PLACE, 2)) == "MPI_IN_PLACE where it may not be");
  CHECK(allgather(side(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL), out) == "");
  CHECK(allgather(side(a, INT64_MAX / 2), out) == "more bytes than there can be");
  CHECK(why(call(NBC_BCAST, {}, out, 3)) == "");
  CHECK(why(call(NBC_BCAST, {}, out, 4)) == "a root that is no rank");
  CHECK(why(call(NBC_GATHER, in, {}, -1)) == "a root that is no rank");
  CHECK(why(call(NBC_BCAST, {}, side(MPI_IN_PLACE, 1))) == "MPI_IN_PLACE where it may not be");
  CHECK(why(call(NBC_OWN, in, out)) == "a collective that is not MPI's");

  // What MPI does not look at on this rank is not looked at.
  const Side bad = side(nullptr, -1, MPI_DATATYPE_NULL);
  CHECK(why(call(NBC_GATHER, in, bad, 0)) == "");
  CHECK(why(call(NBC_SCATTER, bad, out, 0)) == "");
  CHECK(why(call(NBC_GATHER, side(MPI_IN_PLACE, 0), out, 1)) == "");
  CHECK(why(call(NBC_GATHER, side(MPI_IN_PLACE, 0), out, 0)) == "MPI_IN_PLACE where it may not be");
  CHECK(why(call(NBC_SCATTER, in, side(MPI_IN_PLACE, 0), 1)) == "");
  CHECK(why(call(NBC_SCATTER, in, side(MPI_IN_PLACE, 0), 0)) == "MPI_IN_PLACE where it may not be");

  auto allreduce = [&](const Side &s, const Side &r, MPI_Op op) {
    return why(reduction(NBC_ALLREDUCE, s, r, op));
  };
  CHECK(allreduce(in, out, MPI_SUM) == "");
  CHECK(allreduce(in, out, MPI_MINLOC) == "an operator that is not for the type");
  CHECK(allreduce(side(a, 1, MPI_2INT), side(b, 1, MPI_2INT), MPI_MINLOC) == "");
  CHECK(allreduce(side(a, 1, gaps), side(b, 1, gaps), MPI_SUM) ==
        "an operator that is not for the type");
  CHECK(allreduce(in, out, MPI_OP_NULL) == "an operator that is not for reductions");
  CHECK(allreduce(in, out, MPI_REPLACE) == "an operator that is not for reductions");
  CHECK(allreduce(in, side(nullptr, 2), MPI_SUM) == "no buffer where there is data");
  CHECK(allreduce(side(MPI_IN_PLACE, 2), side(nullptr, 2), MPI_SUM) ==
        "no buffer where there is data");
  CHECK(allreduce(in, side(MPI_IN_PLACE, 2), MPI_SUM) == "MPI_IN_PLACE where it may not be");
  CHECK(allreduce(side(a, -1), side(b, -1), MPI_SUM) == "a negative count");
  CHECK(why(reduction(NBC_REDUCE, in, none)) == "");
  CHECK(why(reduction(NBC_REDUCE, side(MPI_IN_PLACE, 2), out), 1) ==
        "MPI_IN_PLACE where it may not be");
  CHECK(why(reduction(NBC_REDUCE, side(MPI_IN_PLACE, 2), out), 0) == "");
  // The first rank of an exscan receives nothing.
  CHECK(why(reduction(NBC_EXSCAN, in, side(nullptr, 2)), 0) == "");
  CHECK(why(reduction(NBC_EXSCAN, in, side(nullptr, 2)), 1) == "no buffer where there is data");
}

// One buffer for both sides: what the library below says of that.
void aliases() {
  const Side one = side(a, 1), two = side(a, 2);
#ifdef MPICH
  CHECK(why(reduction(NBC_ALLREDUCE, one, one)) == "one buffer for both sides");
  CHECK(why(reduction(NBC_SCAN, two, two)) == "one buffer for both sides");
  CHECK(why(call(NBC_ALLTOALL, one, one)) == "one buffer for both sides");
  CHECK(why(call(NBC_GATHER, side(a + 1, 1), one, 1)) == "one buffer for both sides");
  CHECK(why(call(NBC_SCATTER, one, side(a + 1, 1), 1)) == "one buffer for both sides");
#else
  CHECK(why(reduction(NBC_ALLREDUCE, two, two)) == "one buffer for both sides");
  Arguments arguments;
  CHECK(why(reduction(NBC_ALLREDUCE, one, one)) == "");
  CHECK(why(reduction(NBC_SCAN, two, two)) == "");
  CHECK(arguments.set(reduction(NBC_SCAN, two, two), 1, 4, 0, 0));
  CHECK(arguments.call().in == NBC_IN_PLACE && arguments.call().out == a);
  CHECK(why(call(NBC_GATHER, side(a + 1, 1), one, 1)) == "");
#endif
  CHECK(why(reduction(NBC_REDUCE, two, two), 0) == "one buffer for both sides");
  CHECK(why(reduction(NBC_REDUCE, two, two), 1) == "");
  CHECK(why(reduction(NBC_ALLREDUCE, side(a, 0), side(a, 0))) == "");
  CHECK(why(call(NBC_ALLGATHER, side(a, 1), side(b, 1))) == "");
}

// Alike on all ranks, whatever each knows and however it says it.
void lengths() {
  const Side bad = {}, here = side(MPI_IN_PLACE, 0);
  CHECK(bytes(call(NBC_ALLGATHER, side(a, 12, MPI_BYTE), side(b, 3)), 0) == 12);
  CHECK(bytes(call(NBC_ALLGATHER, here, side(b, 1, gaps)), 1) == 8);
  CHECK(bytes(call(NBC_ALLTOALL, here, side(b, 3)), 1) == 12);
  CHECK(bytes(call(NBC_GATHER, side(a, 3), bad, 2), 1) == 12);
  CHECK(bytes(call(NBC_GATHER, here, side(b, 12, MPI_BYTE), 2), 2) == 12);
  CHECK(bytes(call(NBC_SCATTER, bad, side(b, 3), 2), 1) == 12);
  CHECK(bytes(call(NBC_SCATTER, side(a, 3), here, 2), 2) == 12);
  CHECK(bytes(call(NBC_BCAST, bad, side(b, 2, gaps), 2), 2) == 16);
  CHECK(bytes(call(NBC_NEIGHBOR_ALLTOALL, side(a, 2), side(b, 1, gaps)), 2) == 8);
  CHECK(bytes(reduction(NBC_ALLREDUCE, side(a, 3), side(b, 3)), 1) == 12);
  CHECK(bytes(reduction(NBC_REDUCE_SCATTER_BLOCK, side(a, 3), side(b, 3)), 1) == 12);
  CHECK(bytes(call(NBC_BARRIER, bad, bad), 1) == 0);

  auto truncates = [](const Operation &o, int rank) { return outline(o, rank, 4).truncates; };
  CHECK(truncates(call(NBC_ALLTOALL, side(a, 4), side(b, 3)), 1));
  CHECK(!truncates(call(NBC_ALLTOALL, side(a, 3), side(b, 3)), 1));
  CHECK(!truncates(call(NBC_ALLTOALL, side(a, 12, MPI_BYTE), side(b, 3)), 1));
  CHECK(!truncates(call(NBC_ALLTOALL, here, side(b, 3)), 1));
  CHECK(truncates(call(NBC_GATHER, side(a, 4), side(b, 3), 2), 2));
  CHECK(!truncates(call(NBC_GATHER, side(a, 4), bad, 2), 1));
  CHECK(!truncates(call(NBC_NEIGHBOR_ALLTOALL, side(a, 4), side(b, 3)), 1));
}

void rows() {
  int counts[] = {1, 2, 0, 3}, places[] = {9, 1, -100, 4}, negative[] = {1, 2, -1, 3};
  MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_DATATYPE_NULL, MPI_BYTE};
  auto row = [&](const void *buffer, const int *n, MPI_Datatype type) {
    Side s = {.buffer = buffer, .type = type};
    s.counts = {n};
    s.displacements = {places};
    return s;
  };
  auto gatherv = [&](const Side &send, const Side &receive) {
    Operation o = call(NBC_GATHER, send, receive, 1);
    o.each = true;
    return o;
  };
  CHECK(bytes(gatherv(side(a, 2), row(b, counts, MPI_INT)), 1) == 0);
  CHECK(why(gatherv(side(a, 1), row(b, counts, MPI_INT)), 1) == "a rank's block of two lengths");
  const Side bad = {}, here = side(MPI_IN_PLACE, 0);
  // What is counted: this rank's block, or of as many as ranks the mean.
  auto each = [](Operation o) {
    o.each = true;
    return o;
  };
  CHECK(counted(gatherv(side(a, 2), row(b, counts, MPI_INT)), 1) == 8);
  CHECK(counted(gatherv(here, row(b, counts, MPI_INT)), 1) == 8);
  CHECK(counted(gatherv(side(a, 7), {}), 2) == 28);
  CHECK(counted(each(call(NBC_SCATTER, row(a, counts, MPI_INT), here, 3)), 3) == 12);
  CHECK(counted(each(call(NBC_SCATTER, bad, side(b, 5), 3)), 0) == 20);
  CHECK(counted(each(call(NBC_ALLTOALL, row(a, counts, MPI_INT), row(b, counts, MPI_INT))), 1) ==
        6);
  CHECK(counted(each(call(NBC_ALLTOALL, here, row(b, counts, MPI_DOUBLE))), 1) == 12);
  CHECK(counted(each(call(NBC_NEIGHBOR_ALLTOALL, row(a, counts, MPI_INT), row(b, counts, MPI_INT))),
                1) == 6);  // of two
  CHECK(counted(each(reduction(NBC_REDUCE_SCATTER, row(a, counts, MPI_INT), side(b, 0))), 3) == 12);
  CHECK(counted(reduction(NBC_ALLREDUCE, side(a, 3), side(b, 3)), 1) == 12);
  CHECK(why(gatherv(side(a, 7), {}), 2) == "");
  CHECK(why(gatherv(side(a, 2), row(b, negative, MPI_INT)), 1) == "a negative count");
  CHECK(why(gatherv(side(a, 2), row(nullptr, counts, MPI_INT)), 1) ==
        "no buffer where there is data");
  CHECK(why(gatherv(side(a, 2), row(b, counts, MPI_DATATYPE_NULL)), 1) == "a null datatype");
  CHECK(why(gatherv(side(a, 2), row(b, nullptr, MPI_INT)), 1) == "no array where there are blocks");
  Operation nowhere = gatherv(side(a, 2), row(b, counts, MPI_INT));
  nowhere.receive.displacements = {};
  CHECK(why(nowhere, 1) == "no array where there are blocks");
  Operation shared = call(NBC_REDUCE_SCATTER, row(a, nullptr, MPI_INT), side(b, 0));
  shared.op = MPI_SUM;
  CHECK(why(shared, 1) == "no array where there are blocks");

  // Displacements in elements, of blocks that have any.
  Arguments arguments;
  CHECK(arguments.set(gatherv(side(a, 2), row(b, counts, MPI_INT)), 1, 4, 0, 0));
  const nbc_call &c = arguments.call();
  CHECK(c.in == a && c.out == b && c.type == NBC_BYTE && c.count == 8);
  CHECK(c.out_counts[0] == 4 && c.out_counts[2] == 0 && c.out_counts[3] == 12);
  CHECK(c.out_displacements[0] == 36 && c.out_displacements[2] == 0 &&
        c.out_displacements[3] == 16);
  CHECK(arguments.serves_again());
  CHECK(arguments.set(gatherv(side(a, 1, gaps), row(b, counts, MPI_INT)), 1, 4, 0, 0));
  CHECK(c.in != a && c.count == 8 && !arguments.serves_again());

  // Rows of more blocks than there is room for without asking.
  int lengths[12], offsets[12];
  for (int i = 0; i < 12; ++i) lengths[i] = i, offsets[i] = 100 - i;
  Operation many = gatherv(side(a, 1), row(b, lengths, MPI_INT));
  many.receive.displacements = {offsets};
  CHECK(arguments.set(many, 1, 12, 0, 0));
  for (int i = 0; i < 12; ++i) {
    CHECK(c.out_counts[i] == 4 * static_cast<std::size_t>(i));
    CHECK(i == 0 || c.out_displacements[i] == 4 * (100 - i));
  }

  // A row of types, and addresses from MPI_BOTTOM on.
  MPI_Aint addresses[4] = {};
  PMPI_Get_address(a, &addresses[0]);
  PMPI_Get_address(b, &addresses[1]);
  PMPI_Get_address(a + 8, &addresses[3]);
  Operation o = call(NBC_NEIGHBOR_ALLTOALL, {.buffer = MPI_BOTTOM}, {.buffer = MPI_BOTTOM});
  o.each = true;
  o.send.counts = {counts};
  o.send.displacements = {addresses, true};
  o.send.types = types;
  o.receive = o.send;
  CHECK(outline(o, 0, 4, 4, 4).refusal == nullptr);
  CHECK(arguments.set(o, 0, 4, 4, 4));
  const char *base = static_cast<const char *>(c.in);
  CHECK(base != nullptr);  // which nbc_start refuses
  CHECK(base + c.in_displacements[0] == reinterpret_cast<char *>(a));
  CHECK(base + c.in_displacements[1] == reinterpret_cast<char *>(b));
  CHECK(base + c.in_displacements[3] == reinterpret_cast<char *>(a + 8));
  CHECK(c.in_counts[1] == 16 && c.in_counts[2] == 0 && c.in_counts[3] == 3);
  counts[2] = 1;
  CHECK(std::strcmp(outline(o, 0, 4, 4, 4).refusal, "a null datatype") == 0);
}

// A type that holds addresses.
void absolute() {
  MPI_Aint address;
  MPI_Datatype type;
  int one = 1;
  PMPI_Get_address(a + 5, &address);
  PMPI_Type_create_hindexed(1, &one, &address, MPI_INT, &type);
  PMPI_Type_commit(&type);
  Operation o = call(NBC_BCAST, {}, side(MPI_BOTTOM, 1, type));
  Arguments arguments;
  CHECK(why(o, 0) == "" && arguments.set(o, 0, 4, 0, 0));
  a[5] = 77;
  int packed = 0;
  CHECK(arguments.fill(false));
  std::memcpy(&packed, arguments.call().data, sizeof packed);
  CHECK(packed == 77);
  CHECK(arguments.set(o, 1, 4, 0, 0) && arguments.fill(false));
  packed = 78;
  std::memcpy(arguments.call().data, &packed, sizeof packed);
  CHECK(arguments.empty() && a[5] == 78);
  PMPI_Type_free(&type);
}

// --- who waits for whom ---

// On which of four ranks, a bit each, with root 2.
int followers(nbc_kind kind) {
  int found = 0;
  for (int rank = 0; rank < 4; ++rank)
    found |= follows(call(kind, side(a, 1), side(b, 1), 2), rank) << rank;
  return found;
}

void followers() {
  CHECK(followers(NBC_BCAST) == 0b1011 && followers(NBC_SCATTER) == 0b1011);
  CHECK(followers(NBC_GATHER) == 0b0100 && followers(NBC_REDUCE) == 0b0100);
  CHECK(followers(NBC_SCAN) == 0b1110 && followers(NBC_EXSCAN) == 0b1110);
  for (nbc_kind kind : {NBC_BARRIER, NBC_ALLGATHER, NBC_ALLTOALL, NBC_ALLREDUCE, NBC_REDUCE_SCATTER,
                        NBC_REDUCE_SCATTER_BLOCK, NBC_NEIGHBOR_ALLGATHER, NBC_NEIGHBOR_ALLTOALL})
    CHECK(followers(kind) == 0);
}

// Calls of a rank, a letter each, of which it has left the core in those in capitals:
//   b   barrier     f   it waits for ranks that do not wait for it     a   another
//   g   as f, but begun        w   and waited for      i   begun, another
// Returns those in which it yields. Where `alone`, nobody wants the core.
std::string yields(const std::string &calls, bool alone = false) {
  Courtesy courtesy;
  std::string places;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool away = calls[i] < 'a';
    const char letter = static_cast<char>(away ? calls[i] + ('a' - 'A') : calls[i]);
    if (letter == 'g' || letter == 'i')
      courtesy.begin(&calls, letter == 'g');
    else if (letter == 'w')
      courtesy.end(&calls, away);
    else
      courtesy.leave(letter == 'b' ? NBC_BARRIER : NBC_BCAST, letter == 'f', away, [&] {
        places += std::to_string(i);
        return !alone;
      });
  }
  return places;
}

void courtesies() {
  CHECK(yields("bfbfbf").empty());        // never had to wait
  CHECK(yields("bFbfbfBfbf") == "248");   // did, and still would; but not where it has yielded
  CHECK(yields("bFbfbf", true) == "2");   // in vain
  CHECK(yields("bFbFbf", true) == "24");  // waited again
  CHECK(yields("bAbaba").empty());        // others wait for it
  CHECK(yields("bFbabfb") == "2");        // another call came
  CHECK(yields("bFbbbfb") == "2");        // barriers in a row
  CHECK(yields("bfFbf").empty());         // it was not the call behind the barrier
  CHECK(yields("bFfab") == "4");          // nor do these change anything
  CHECK(yields("bgwbgwbgwb").empty());    // the same of calls that do not block
  CHECK(yields("bgWbgwbgwBgwb") == "3612");
  CHECK(yields("bgWbgWb", true) == "36");
  CHECK(yields("bgWbiWbgwb") == "3");  // others wait for it
  CHECK(yields("bgaWbgwb").empty());   // another call came before it was waited for
  CHECK(yields("bggWbgwb").empty());
}

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  PMPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
  PMPI_Type_commit(&gaps);
  refusals();
  aliases();
  lengths();
  rows();
  absolute();
  followers();
  courtesies();
  PMPI_Type_free(&gaps);
  std::puts("all refusals, lengths, places and turns");
  MPI_Finalize();
}
