// SPDX-License-Identifier: BSD-3-Clause
// types.cpp - what is said of types and operators, beside what the MPI itself does with them.
//
//   mpirun -n 1 dropin-types
//
// Prints the operators that each named type is reduced with.

#include "dropin/types.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "dropin/data.h"
#include "dropin/operators.h"
#include "dropin/packing.h"
#include "test/dropin/zoo.h"

using namespace nbcc::dropin;

static int freed = 0;

// In the place of the library's.
extern "C" int PMPI_Op_free(MPI_Op *op) {
  ++freed;
  return MPI_Op_free(op);
}

namespace {

std::string what;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      std::fprintf(stderr, "line %d: %s does not hold: %s\n", __LINE__, #condition, what.c_str()); \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

struct Named {
  const char *name;
  MPI_Datatype type;
};

std::vector<Named> named_types() {
  return {
#define NAMED_TYPE(handle, family) {#handle, handle},
#include "dropin/types.def"
  };
}

// --- packing, beside a message to oneself ---

// `bytes` travel as MPI_BYTE, `data` as what they are.
void send_to_self(const void *from, int n, MPI_Datatype sent, void *to, int m,
                  MPI_Datatype received) {
  PMPI_Sendrecv(from, n, sent, 0, 0, to, m, received, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

void packs(const Animal &a, int count) {
  what = a.name + ", count " + std::to_string(count);
  Type t = type_of(a.type);
  int bytes = static_cast<int>(t.size * count);
  Memory data = Memory::of(a.type, count, 1), found = Memory::of(a.type, count, 2),
         expected = found;
  std::vector<char> packed(bytes + 1), sent(bytes + 1);
  CHECK(pack(data.buffer, count, a.type, t, packed.data()));
  send_to_self(data.buffer, count, a.type, sent.data(), bytes, MPI_BYTE);
  CHECK(packed == sent);
  CHECK(unpack(packed.data(), found.buffer, count, a.type, t));
  send_to_self(packed.data(), bytes, MPI_BYTE, expected.buffer, count, a.type);
  CHECK(found.bytes == expected.bytes);
}

// From one type to another of the same signature.
void repacks(MPI_Datatype from, int n, MPI_Datatype to, int m) {
  const Type f = type_of(from), t = type_of(to);
  Memory data = Memory::of(from, n, 1), found = Memory::of(to, m, 2), expected = found;
  std::vector<char> room(needs_room(f, t) ? f.size * n + 1 : 0);
  CHECK(repack(data.buffer, n, from, f, found.buffer, m, to, t, room.data()));
  send_to_self(data.buffer, n, from, expected.buffer, m, to);
  CHECK(found.bytes == expected.bytes);
}

void repacks(const std::vector<Animal> &zoo) {
  for (const Animal &a : zoo) {
    for (int count : {1, 3}) {
      what = a.name + ", from type to type, count " + std::to_string(count);
      repacks(a.type, count, a.type, count);
      repacks(a.type, count, a.other, count * a.others);
      repacks(a.other, count * a.others, a.type, count);
    }
    for (const Animal &b : zoo) {
      if (a.other != MPI_INT || b.other != MPI_INT || a.others == 0 || b.others == 0) continue;
      what = a.name + " to " + b.name;
      repacks(a.type, b.others, b.type, a.others);
    }
  }
}

// --- MPI's operators, beside MPI_Reduce_local ---

const MPI_Op operators[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_BAND,   MPI_BOR,
                            MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC};

// Small numbers: an integer for each member of a pair, or of a complex number.
template <class Value>
void put(char *at, std::size_t bytes, int value) {
  Value v = static_cast<Value>(value);
  std::memcpy(at, &v, std::min(bytes, sizeof v));
}

void put_element(nbc_type type, char *at, int a, int b) {
  std::size_t size = nbc_type_size(type);
  std::memset(at, 0, size);
  std::string name = nbc_type_name(type);
  bool pair = name.find('_') != std::string::npos, complex = name[0] == 'c';
  std::string first = complex ? name.substr(1) : name.substr(0, name.find('_'));
  if (first == "f32")
    put<float>(at, size, a);
  else if (first == "f64")
    put<double>(at, size, a);
  else if (first == "f80")
    put<long double>(at, size, a);
  else
    put<std::int64_t>(at, size, first == "bool" ? a % 2 : a);
  if (complex) {
    std::memcpy(at + size / 2, at, size / 2);
    return;
  }
  if (!pair) return;
  if (name == "f32_f32")
    put<float>(at + 4, 4, b);
  else if (name == "f64_f64")
    put<double>(at + 8, 8, b);
  else
    put<std::int32_t>(at + (name == "i16_i32" ? 4 : (size == 8 ? 4 : size / 2)), 4, b);
}

bool outlined(MPI_Datatype type, MPI_Op op) {
  int in[8] = {}, out[8] = {};
  Operation o;
  o.kind = NBC_ALLREDUCE;
  o.send = {.buffer = in, .count = 1, .type = type};
  o.receive = {.buffer = out, .count = 1, .type = type};
  o.op = op;
  return !outline(o, 0, 1).refusal;
}

// In MPICH a logical operator on what is not an integer ends the program.
bool may_ask(nbc_type type, nbc_op op) {
  bool logical = op == NBC_LAND || op == NBC_LOR || op == NBC_LXOR;
  return !logical || type <= NBC_U64 || type == NBC_BOOL;
}

void reduces(const Named &named) {
  if (named.type == MPI_DATATYPE_NULL) return;
  Type t = type_of(named.type);
  CHECK(t.named && t.element != NBC_OPAQUE);
  std::string line = named.name + std::string(" ") + nbc_type_name(t.element) + ":";
  constexpr int n = 16;
  std::size_t size = nbc_type_size(t.element);
  CHECK(static_cast<std::size_t>(t.extent) == size);
  for (MPI_Op op : operators) {
    nbc_op ours = op_of(op);
    what = named.name + std::string(" ") + nbc_op_name(ours);
    bool taken = outlined(named.type, op);
    if (taken) line += std::string(" ") + nbc_op_name(ours);
    CHECK(!taken || nbc_reduction(t.element, ours));
    if (!may_ask(t.element, ours)) {
      CHECK(!taken);
      continue;
    }
    std::vector<char> left(n * size), right(n * size), result(n * size);
    for (int i = 0; i < n; ++i) {
      put_element(t.element, &left[i * size], i % 4, 7 - i);
      put_element(t.element, &right[i * size], i / 4, i);
    }
    if (taken) nbc_reduction(t.element, ours)(result.data(), left.data(), right.data(), n, nullptr);
    // What MPI objects to is left to it.
    bool objects = PMPI_Reduce_local(left.data(), right.data(), n, named.type, op) != MPI_SUCCESS;
    CHECK(!objects || !taken);
    if (!taken) continue;
    std::vector<char> expected(n * size), found(n * size);
    pack(right.data(), n, named.type, t, expected.data());
    pack(result.data(), n, named.type, t, found.data());
    if (std::string(nbc_type_name(t.element)).find("80") != std::string::npos)
      for (std::size_t i = 0; i < found.size(); ++i)
        if (i % 16 >= 10) expected[i] = found[i];  // padding
    CHECK(found == expected);
  }
  std::puts(line.c_str());
}

// --- copies of one type, which the MPI is not asked how long they are ---

void same_extents(MPI_Datatype type) {
  MPI_Count size;
  MPI_Aint lower, extent, true_lower, true_extent;
  PMPI_Type_size_x(type, &size);
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  const Type t = type_of(type);
  CHECK(t.size == size && t.extent == extent);
  const Blocks &b = t.blocks;
  if (t.dense) CHECK(size == extent && size == true_extent && lower == 0 && b.count == 0);
  if (b.count == 0) return;
  CHECK(true_lower == b.first && b.count * b.bytes == size);
  CHECK(b.count == 1 || b.bytes <= b.stride);
  CHECK((b.count - 1) * b.stride + b.bytes == true_extent);
}

// True: it goes in blocks, which are copied without the MPI.
bool repeats(MPI_Datatype type) {
  PMPI_Type_commit(&type);
  same_extents(type);
  const bool blocks = type_of(type).blocks.count > 0;
  if (type_of(type).size > 0)
    for (int count : {1, 2}) packs({what, type, MPI_DATATYPE_NULL}, count);
  PMPI_Type_free(&type);
  return blocks;
}

void repeated() {
  MPI_Datatype inner[6] = {MPI_CHAR, MPI_DOUBLE, MPI_DOUBLE_INT}, made;
  PMPI_Type_contiguous(3, MPI_CHAR, &inner[3]);
  PMPI_Type_vector(2, 1, 2, MPI_INT, &inner[4]);
  PMPI_Type_create_resized(MPI_INT, 0, 8, &inner[5]);
  int in_blocks = 0, others = 0;
  for (int i = 0; i < 6; ++i) {
    for (int count = 0; count < 4; ++count) {
      what = "contiguous " + std::to_string(count) + " of " + std::to_string(i);
      PMPI_Type_contiguous(count, inner[i], &made);
      repeats(made);
      for (int block = 0; block < 3; ++block)
        for (int stride = -3; stride < 4; ++stride) {
          what = "vector " + std::to_string(count) + " " + std::to_string(block) + " " +
                 std::to_string(stride) + " of " + std::to_string(i);
          if (count > 1 && block > 1 && std::abs(stride) < block) continue;  // received twice
          if (count > 1 && block > 0 && stride == 0) continue;
          PMPI_Type_vector(count, block, stride, inner[i], &made);
          ++(repeats(made) ? in_blocks : others);
          if (i == 4 && count > 1 && block > 0) continue;  // one would lie in another's gaps
          for (int bytes : {16, 17}) {
            what += ", apart " + std::to_string(stride * bytes);
            PMPI_Type_create_hvector(count, block, stride * bytes, inner[i], &made);
            ++(repeats(made) ? in_blocks : others);
          }
        }
    }
  }
  what = "repeated types";
  CHECK(in_blocks > 30 && others > 30);
  for (int i = 3; i < 6; ++i) PMPI_Type_free(&inner[i]);
}

// Columns of a matrix, in order and from the last: blocks of each lie between those of others.
void columns() {
  constexpr int most = 9;
  for (int rows : {2, 7, 8, 9, 16, 17, 40})
    for (int bytes : {1, 4, 8, 12, 16, 63, 64, 65})
      for (int extent : {bytes, -bytes, 2 * bytes}) {
        what = "columns of " + std::to_string(rows) + " times " + std::to_string(bytes) + ", " +
               std::to_string(extent) + " apart";
        MPI_Datatype gaps, column;
        PMPI_Type_vector(rows, bytes, 2 * most * bytes, MPI_CHAR, &gaps);
        PMPI_Type_create_resized(gaps, 0, extent, &column);
        PMPI_Type_commit(&column);
        CHECK(type_of(column).blocks.count == rows);
        for (int count : {1, 2, most}) packs({what, column, MPI_DATATYPE_NULL}, count);
        PMPI_Type_free(&column);
        PMPI_Type_free(&gaps);
      }
}

// All parts of all small arrays.
void parts_of_arrays() {
  MPI_Datatype inner[3] = {MPI_INT};
  PMPI_Type_contiguous(3, MPI_CHAR, &inner[1]);
  PMPI_Type_vector(2, 1, 2, MPI_INT, &inner[2]);
  int in_blocks = 0, others = 0;
  for (MPI_Datatype of : inner)
    for (int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN})
      for (int n : {1, 2, 3, 5})
        for (unsigned number = 0; number < (n < 3 ? 216u : 1500u); ++number) {
          int sizes[5], parts[5], starts[5];
          unsigned left = n < 3 ? number : number * 2654435761u >> 7;
          for (int d = 0; d < n; ++d) {
            sizes[d] = 1 + static_cast<int>(left % 3);
            parts[d] = 1 + static_cast<int>(left / 3 % static_cast<unsigned>(sizes[d]));
            starts[d] = static_cast<int>(left % static_cast<unsigned>(sizes[d] - parts[d] + 1));
            left /= 6;
          }
          what = "part of an array: " + std::to_string(number) + " of " + std::to_string(n);
          MPI_Datatype made;
          PMPI_Type_create_subarray(n, sizes, parts, starts, order, of, &made);
          ++(repeats(made) ? in_blocks : others);
        }
  what = "parts of arrays";
  CHECK(in_blocks > 1000 && others > 1000);
  for (int i = 1; i < 3; ++i) PMPI_Type_free(&inner[i]);
}

// Fortran's types by precision, which nobody may free.
void by_precision() {
  what = "types by precision";
  MPI_Datatype types[3];
  PMPI_Type_create_f90_real(15, 307, &types[0]);
  PMPI_Type_create_f90_complex(6, 37, &types[1]);
  PMPI_Type_create_f90_integer(9, &types[2]);
  const nbc_type elements[] = {NBC_F64, NBC_CF32, NBC_I32};
  for (int i = 0; i < 3; ++i) {
    Type t = type_of(types[i]);
    CHECK(t.named && t.dense && t.element == elements[i]);
    CHECK(outlined(types[i], MPI_SUM) && !outlined(types[i], MPI_MAXLOC));
  }
  // A copy of a named type is none.
  PMPI_Type_dup(MPI_INT, &types[0]);
  CHECK(!outlined(types[0], MPI_SUM) && type_of(types[0]).dense);
  PMPI_Type_free(&types[0]);
}

void keep_last(void *, void *, int *, MPI_Datatype *) {}

// --- operators that are freed while calls use them ---

void frees_operators() {
  MPI_Op op, unused;
  PMPI_Op_create(keep_last, 0, &op);
  PMPI_Op_create(keep_last, 1, &unused);
  CHECK(op_of(op) == NBC_USER && !commutes(op) && commutes(unused) && commutes(MPI_SUM));
  CHECK(!defer_free(op));
  CHECK(retain(op) && retain(op) && retain(MPI_SUM));
  CHECK(!defer_free(unused) && !defer_free(MPI_SUM));
  CHECK(defer_free(op));
  release(op);
  int in = 1, out = 2;
  CHECK(PMPI_Reduce_local(&in, &out, 1, MPI_INT, op) == MPI_SUCCESS);
  CHECK(freed == 0);
  release(op);
  CHECK(freed == 1 && !defer_free(op));
  CHECK(retain(unused));
  release(unused);
  CHECK(freed == 1 && PMPI_Reduce_local(&in, &out, 1, MPI_INT, unused) == MPI_SUCCESS);
  release(MPI_SUM);
  PMPI_Op_free(&unused);
}

}  // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const std::vector<Animal> zoo = make_zoo();
  for (const Animal &a : zoo) {
    what = a.name;
    CHECK(type_of(a.type).dense == a.dense);
    for (int count : {0, 1, 7}) packs(a, count);
  }
  repacks(zoo);
  for (const Named &named : named_types()) reduces(named);
  repeated();
  columns();
  parts_of_arrays();
  by_precision();
  frees_operators();
  std::puts("all alike");
  MPI_Finalize();
}
