// SPDX-License-Identifier: BSD-3-Clause
// types.cpp - named types from a table, others by asking the MPI how they were made.

#include "dropin/types.h"

#include <array>
#include <cfloat>
#include <optional>

namespace nbcc::dropin {

namespace {

// --- families of named types ---

enum Family {
  byte,
  integer,
  natural,
  fortran_integer,
  real,
  complex,
  boolean,
  logical,
  integer_and_int,
  real_and_int,
  two_reals
};

constexpr std::uint16_t bits(std::initializer_list<nbc_op> ops) {
  unsigned all = 0;
  for (nbc_op op : ops) all |= 1u << op;
  return static_cast<std::uint16_t>(all);
}

constexpr std::uint16_t sums = bits({NBC_SUM, NBC_PROD});
constexpr std::uint16_t arithmetic = sums | bits({NBC_MIN, NBC_MAX});
constexpr std::uint16_t bitwise = bits({NBC_BAND, NBC_BOR, NBC_BXOR});
constexpr std::uint16_t truths = bits({NBC_LAND, NBC_LOR, NBC_LXOR});
constexpr std::uint16_t places = bits({NBC_MINLOC, NBC_MAXLOC});

// MPI 4.1, section 6.9.2. A library may allow more; that is then its own to do.
std::uint16_t operators_of(Family family) {
  switch (family) {
    case byte:
      return bitwise;
    case integer:
    case natural:
      return arithmetic | bitwise | truths;
    case fortran_integer:
      return arithmetic | bitwise;
    case real:
      return arithmetic;
    case complex:
      return sums;
    case boolean:
    case logical:
      return truths;
    case integer_and_int:
    case real_and_int:
    case two_reals:
      return places;
  }
  return 0;
}

// nbc.h's long double is that of x86: of 80 bits, in 16 bytes.
constexpr bool has_f80 = sizeof(long double) == 16 && LDBL_MANT_DIG == 64;

// `bytes` from an element to the next. NBC_OPAQUE: there is none so long.
nbc_type element_of(Family family, std::int64_t bytes) {
  struct Row {
    Family family;
    nbc_type element;
  };
  static constexpr Row rows[] = {
      {byte, NBC_BYTE},
      {integer, NBC_I8},
      {integer, NBC_I16},
      {integer, NBC_I32},
      {integer, NBC_I64},
      {natural, NBC_U8},
      {natural, NBC_U16},
      {natural, NBC_U32},
      {natural, NBC_U64},
      {real, NBC_F32},
      {real, NBC_F64},
      {real, NBC_F80},
      {complex, NBC_CF32},
      {complex, NBC_CF64},
      {complex, NBC_CF80},
      {boolean, NBC_BOOL},
      {integer_and_int, NBC_I16_I32},  // and NBC_I32_I32 is as long: see below
      {integer_and_int, NBC_I64_I32},
      {real_and_int, NBC_F32_I32},
      {real_and_int, NBC_F64_I32},
      {real_and_int, NBC_F80_I32},
      {two_reals, NBC_F32_F32},
      {two_reals, NBC_F64_F64},
  };
  if (family == fortran_integer || family == logical) family = integer;
  for (const Row &row : rows) {
    bool f80 = row.element == NBC_F80 || row.element == NBC_CF80 || row.element == NBC_F80_I32;
    if (f80 && !has_f80) continue;
    if (row.family == family && static_cast<std::int64_t>(nbc_type_size(row.element)) == bytes)
      return row.element;
  }
  return NBC_OPAQUE;
}

// --- what the MPI says ---

struct Extents {
  MPI_Count size;
  MPI_Aint lower, extent, true_lower, true_extent;
  // Nothing before its address, behind its end, or in between.
  bool has_no_gaps() const {
    return lower == 0 && true_lower == 0 && extent == size && true_extent == size;
  }
};

Extents extents_of(MPI_Datatype type) {
  Extents e = {};
  PMPI_Type_size_x(type, &e.size);
  PMPI_Type_get_extent(type, &e.lower, &e.extent);
  PMPI_Type_get_true_extent(type, &e.true_lower, &e.true_extent);
  return e;
}

Type named(MPI_Datatype type, Family family) {
  Extents e = extents_of(type);
  Type t = {.size = e.size, .extent = e.extent, .dense = e.has_no_gaps(), .named = true};
  t.element = element_of(family, e.extent);
  if (t.element == NBC_I16_I32 && e.size == 8) t.element = NBC_I32_I32;
  if (t.element != NBC_OPAQUE) t.operators = operators_of(family);
  return t;
}

// --- the table ---

// Handles are addresses here and numbers there.
std::uintptr_t key_of(MPI_Datatype type) {
  return (std::uintptr_t)type;
}

class Table {
 public:
  Table() {
#define NAMED_TYPE(handle, family) insert(handle, family);
#include "dropin/types.def"
  }

  const Type *find(MPI_Datatype type) const {
    for (std::size_t i = first(type);; i = next(i)) {
      if (slots_[i].key == key_of(type)) return &slots_[i].type;
      if (slots_[i].key == 0) return nullptr;
    }
  }

 private:
  struct Slot {
    std::uintptr_t key = 0;  // 0 is no type in either library
    Type type;
  };
  static constexpr unsigned shift = 54;  // of 1024 slots, for some 70 types
  std::array<Slot, 1u << (64 - shift)> slots_;

  static std::size_t first(MPI_Datatype type) {
    return static_cast<std::uint64_t>(key_of(type)) * 0x9e3779b97f4a7c15u >> shift;
  }
  std::size_t next(std::size_t i) const { return (i + 1) % slots_.size(); }

  // The first name of a type counts: in some libraries there are two for one.
  void insert(MPI_Datatype type, Family family) {
    if (type == MPI_DATATYPE_NULL || find(type)) return;
    std::size_t i = first(type);
    while (slots_[i].key) i = next(i);
    slots_[i] = {key_of(type), named(type, family)};
  }
};

// Null: it is not in the table.
const Type *find_named(MPI_Datatype type) {
  static const Table table;
  return table.find(type);
}

// --- types that a program has made ---

struct Envelope {
  int integers = 0, addresses = 0, combiner = MPI_COMBINER_NAMED;
  bool large = false;  // made with counts beyond int, of which we do not ask
};

Envelope envelope_of(MPI_Datatype type) {
  Envelope e;
#if MPI_VERSION >= 4
  MPI_Count integers, addresses, larges, types;
  PMPI_Type_get_envelope_c(type, &integers, &addresses, &larges, &types, &e.combiner);
  e.large = larges != 0;
  e.integers = static_cast<int>(integers);
  e.addresses = static_cast<int>(addresses);
#else
  int types;
  PMPI_Type_get_envelope(type, &e.integers, &e.addresses, &types, &e.combiner);
#endif
  return e;
}

// Copies of one type.
bool repeats(const Envelope &e) {
  if (e.large || e.integers > 3 || e.addresses > 2) return false;
  return e.combiner == MPI_COMBINER_DUP || e.combiner == MPI_COMBINER_RESIZED ||
         e.combiner == MPI_COMBINER_CONTIGUOUS || e.combiner == MPI_COMBINER_VECTOR ||
         e.combiner == MPI_COMBINER_HVECTOR;
}

// What it says of how they lie: `blocks` of `block` copies each, `stride` bytes from one to the
// next. No blocks: it does not.
struct Repeated {
  Type of;
  std::int64_t blocks = 0, block = 0, stride = 0;
};

Type made(MPI_Datatype);

// Of the one type that another is made of; the numbers that it is made with go into the arrays.
Type inner_of(MPI_Datatype type, const Envelope &e, int *integers, MPI_Aint *addresses) {
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  PMPI_Type_get_contents(type, e.integers, e.addresses, 1, integers, addresses, &inner);
  if (const Type *known = find_named(inner)) return *known;
  const Type of = made(inner);
  if (!of.named) PMPI_Type_free(&inner);
  return of;
}

Repeated repeated(MPI_Datatype type, const Envelope &e) {
  int integers[3];  // of a vector
  MPI_Aint addresses[2];
  Repeated r;
  r.of = inner_of(type, e, integers, addresses);
  switch (e.combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      r.blocks = 1;
      r.block = integers[0];
      break;
    case MPI_COMBINER_VECTOR:
      r.blocks = integers[0];
      r.block = integers[1];
      if (__builtin_mul_overflow(integers[2], r.of.extent, &r.stride)) r.blocks = 0;
      break;
    case MPI_COMBINER_HVECTOR:
      r.blocks = integers[0];
      r.block = integers[1];
      r.stride = addresses[0];
      break;
    default:
      break;
  }
  return r;
}

// Blocks of something dense, one behind the other from address 0 on: what the MPI would answer is
// computed. None: they are not, or there are no bytes. Where a stride is no whole number of copies,
// some libraries add to the extent what an array of such elements would want.
std::optional<Type> strided(const Repeated &r) {
  std::int64_t block, size, last;
  if (!r.of.dense || r.blocks <= 0 || __builtin_mul_overflow(r.block, r.of.size, &block) ||
      block <= 0 || (r.blocks > 1 && (r.stride < block || r.stride % r.of.extent != 0)) ||
      __builtin_mul_overflow(r.blocks, block, &size) ||
      __builtin_mul_overflow(r.blocks - 1, r.stride, &last))
    return std::nullopt;
  Type t = {.size = size, .dense = r.blocks == 1 || r.stride == block};
  if (__builtin_add_overflow(last, block, &t.extent)) return std::nullopt;
  if (!t.dense) t.blocks = {r.blocks, block, r.stride};
  return t;
}

// Of a part of an array, from its innermost dimension outwards: what it has all of below the first
// that it has not all of lies in one piece.
Blocks part_of_array(MPI_Datatype type, const Envelope &e) {
  constexpr int most_dimensions = 4;
  if (e.combiner != MPI_COMBINER_SUBARRAY || e.large || e.integers > 3 * most_dimensions + 2)
    return {};
  int integers[3 * most_dimensions + 2];
  MPI_Aint addresses[1];  // of which there are none
  const Type of = inner_of(type, e, integers, addresses);
  if (!of.dense) return {};
  const int n = integers[0], *sizes = integers + 1, *parts = sizes + n, *starts = parts + n;
  Blocks b = {.count = 1, .bytes = of.size};
  std::int64_t below = of.size;  // bytes from one index to the next
  for (int i = 0; i < n; ++i) {
    const int d = integers[3 * n + 1] == MPI_ORDER_C ? n - 1 - i : i;
    b.first += starts[d] * below;
    if (b.bytes == below)
      b.bytes *= parts[d];
    else if (b.count == 1 && parts[d] > 1)
      b.stride = below, b.count = parts[d];
    else if (parts[d] > 1 && b.stride * b.count == below)
      b.count *= parts[d];
    else if (parts[d] > 1)
      return {};
    below *= sizes[d];
  }
  return b;
}

// A type without a name.
Type made_of_others(MPI_Datatype type, const Envelope &e) {
  Repeated r;
  if (repeats(e)) r = repeated(type, e);
  if (const std::optional<Type> t = strided(r)) return *t;
  const bool same = e.combiner == MPI_COMBINER_DUP || e.combiner == MPI_COMBINER_RESIZED;
  const Blocks blocks = same ? r.of.blocks : part_of_array(type, e);
  const Extents own = extents_of(type);
  // The bytes of a type lie without gaps in the order of its type map where those of what is copied
  // do, if nothing is between the copies and none is in another's place: backwards they would reach
  // before address 0. Some are said not to that do; they are packed then, which is right for any.
  Type t = {.size = own.size, .extent = own.extent, .dense = own.has_no_gaps() && r.of.dense};
  if (!t.dense) t.blocks = blocks;
  return t;
}

Type made(MPI_Datatype type) {
  const Envelope of = envelope_of(type);
  switch (of.combiner) {
    case MPI_COMBINER_NAMED: {
      Type t = named(type, byte);
      t.element = NBC_OPAQUE;
      t.operators = 0;
      return t;
    }
    case MPI_COMBINER_F90_REAL:
      return named(type, real);
    case MPI_COMBINER_F90_COMPLEX:
      return named(type, complex);
    case MPI_COMBINER_F90_INTEGER:
      return named(type, fortran_integer);
    default:
      return made_of_others(type, of);
  }
}

}  // namespace

// Under the lock, as all calls are.
static int calls = 0;
static MPI_Datatype asked_about = MPI_DATATYPE_NULL;

OneCall::OneCall() {
  ++calls;
  asked_about = MPI_DATATYPE_NULL;
}
OneCall::~OneCall() {
  --calls;
  asked_about = MPI_DATATYPE_NULL;
}

static MPI_Comm asked_by = MPI_COMM_NULL;

void ask_types_by(MPI_Comm comm) {
  asked_by = comm;
}

static Type found_or_made(MPI_Datatype type) {
  if (const Type *found = find_named(type)) return *found;
  Type t = made(type);
  const char byte_there = 0;  // MPICH looks at types of something only
  t.committed = asked_by == MPI_COMM_NULL ||
                PMPI_Send(&byte_there, 1, type, MPI_PROC_NULL, 0, asked_by) == MPI_SUCCESS;
  return t;
}

Type type_of(MPI_Datatype type) {
  static Type answer;
  if (calls && type == asked_about) return answer;
  if (!calls) return found_or_made(type);
  answer = found_or_made(type);
  asked_about = type;
  return answer;
}

}  // namespace nbcc::dropin
