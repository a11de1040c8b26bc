// SPDX-License-Identifier: BSD-3-Clause
// library.cpp - the tables of a library: whole ones pass, each promise broken once is named,
// whatever damage is refused without a look outside of them.

#include "nbc/library.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "nbc.h"

namespace {

/// Two algorithms, one of them with templates for 2 ranks; the content of a template is of no
/// account here. Words, so that it is aligned.
struct Library {
  std::vector<uint64_t> words;

  nbc_library *header() { return reinterpret_cast<nbc_library *>(words.data()); }
  const nbc_library *header() const { return reinterpret_cast<const nbc_library *>(words.data()); }
  size_t size() const { return words.size() * 8; }
  template <class T>
  T *table(nbc_table t) {
    return reinterpret_cast<T *>(reinterpret_cast<char *>(words.data()) + t.offset);
  }
  void seal() { header()->checksum = nbc_library_checksum(header()); }
  int check(std::string *text = nullptr) const {
    const char *why = nullptr;
    const int status = nbc_library_check(header(), size(), &why);
    EXPECT_TRUE(why);
    EXPECT_EQ(status == 0, *why == 0);
    if (text) *text = why;
    return status;
  }
};

class Maker {
 public:
  Library make() {
    static constexpr char kText[] =
        "\0allgather.bruck\0bcast.binomial\0k\0soft\0mpi\0a.nbc\0mine\0double\0";
    const std::string text(kText, sizeof kText - 1);
    const auto at = [&](const char *s) { return uint32_t(text.find(s)); };
    nbc_library h = {};
    h.magic = NBC_LIBRARY_MAGIC;
    h.version = NBC_LIBRARY_VERSION;
    std::strcpy(h.name, "test");
    std::strcpy(h.compiler, "nbcc test");
    std::strcpy(h.architecture, ARCHITECTURE);
    h.cpu_level = std::string(ARCHITECTURE) == "x86_64" ? 1 : 0;
    bytes_.resize(sizeof h);

    h.code = add<int32_t>({-64, -32, -16, 0});
    nbc_library_algorithm bruck = {}, binomial = {};
    bruck.place = uint64_t{3} << 32 | 1 << 16;
    bruck.name = at("allgather.bruck");
    bruck.kind = NBC_ALLGATHER;
    bruck.views = 2;
    bruck.ensures = NBC_LIBRARY_NONE;
    bruck.proven_from = 1, bruck.proven_to = 64;
    bruck.parameters = {0, 1};
    bruck.requirements = {0, 1};
    binomial = bruck;
    binomial.name = at("bcast.binomial");
    binomial.kind = NBC_BCAST;
    binomial.where = 1;
    binomial.build = 1;
    binomial.parameters = binomial.requirements = {0, 0};
    binomial.extents = {0, 1};
    h.algorithms = add<nbc_library_algorithm>({bruck, binomial});
    h.parameters = add<nbc_library_parameter>({{1, at("k"), 0}});
    h.requirements = add<nbc_library_function>({{0, 2, 0}});
    h.extents = add<nbc_library_function>({{0, NBC_LIBRARY_NONE, 0}});
    nbc_library_target target = {};
    target.name = at("mpi");
    target.device = target.facts = at("soft");
    h.targets = add<nbc_library_target>({target});
    std::vector<nbc_library_template> templates;
    for (uint32_t rank = 0; rank < 2; ++rank) templates.push_back({0, 0, 2, 0, rank, 0, 0, 8});
    for (uint32_t root = 0; root < 2; ++root)
      for (uint32_t rank = 0; rank < 2; ++rank) templates.push_back({1, 0, 2, root, rank, 0, 0, 8});
    h.templates = add(templates);
    h.operators = add<nbc_library_operator>({{at("mine"), at("double"), 3, 8}});
    h.sources = add<uint32_t>({at("a.nbc")});
    h.text = add(std::vector<char>(text.begin(), text.end()));
    while (bytes_.size() % 64) bytes_.push_back(0);
    h.templates_begin = bytes_.size();
    for (nbc_library_template &t : templates) {
      t.offset = bytes_.size();
      bytes_.resize(bytes_.size() + 64, char(t.rank + 2 * t.root + 1));
    }
    h.bytes = bytes_.size();
    std::memcpy(bytes_.data() + h.templates.offset, templates.data(),
                templates.size() * sizeof templates[0]);
    std::memcpy(bytes_.data(), &h, sizeof h);
    Library lib;
    lib.words.resize(bytes_.size() / 8);
    std::memcpy(lib.words.data(), bytes_.data(), bytes_.size());
    lib.seal();
    return lib;
  }

 private:
#if defined(__x86_64__)
  static constexpr const char *ARCHITECTURE = "x86_64";
#else
  static constexpr const char *ARCHITECTURE = "aarch64";
#endif

  template <class T>
  nbc_table add(const std::vector<T> &entries) {
    const nbc_table table = {uint32_t(bytes_.size()), uint32_t(entries.size())};
    const char *begin = reinterpret_cast<const char *>(entries.data());
    bytes_.insert(bytes_.end(), begin, begin + sizeof(T) * entries.size());
    while (bytes_.size() % 8) bytes_.push_back(0);
    return table;
  }
  std::vector<char> bytes_;
};

TEST(Library, aWholeOneIsUsed) {
  Library lib = Maker().make();
  const char *why = nullptr;
  EXPECT_EQ(lib.check(), 0);
  EXPECT_EQ(nbc_library_use(lib.header(), &why), 0) << why;
  EXPECT_STREQ(why, "");
}

TEST(Library, findsEachTemplateAndNoOther) {
  Library lib = Maker().make();
  size_t bytes = 0;
  const auto find = [&](const char *algorithm, uint32_t ranks, uint32_t rank, uint32_t root) {
    bytes = 0;
    const void *found = nbc_library_find(lib.header(), algorithm, "mpi", NBC_LENGTHS_EQUAL, ranks,
                                         rank, root, &bytes);
    return found ? *static_cast<const unsigned char *>(found) : 0;
  };
  EXPECT_EQ(find("bcast.binomial", 2, 0, 0), 1);
  EXPECT_EQ(find("bcast.binomial", 2, 1, 0), 2);
  EXPECT_EQ(find("bcast.binomial", 2, 0, 1), 3);
  EXPECT_EQ(find("bcast.binomial", 2, 1, 1), 4);
  EXPECT_EQ(bytes, 8u);
  EXPECT_EQ(find("allgather.bruck", 2, 1, 0), 2);
  EXPECT_EQ(find("allgather.bruck", 2, 1, 1), 2) << "an allgather has no root";
  EXPECT_EQ(find("allgather.bruck", 3, 1, 0), 0);
  EXPECT_EQ(find("allgather.bruck", 2, 2, 0), 0);
  EXPECT_EQ(find("allgather.ring", 2, 1, 0), 0);
  EXPECT_EQ(
      nbc_library_find(lib.header(), "allgather.bruck", "shm", NBC_LENGTHS_EQUAL, 2, 0, 0, nullptr),
      nullptr);
  EXPECT_EQ(
      nbc_library_find(lib.header(), "allgather.bruck", "mpi", NBC_LENGTHS_EACH, 2, 0, 0, nullptr),
      nullptr);
  EXPECT_STREQ(
      nbc_library_text(lib.header(), nbc_library_named(lib.header(), "bcast.binomial")->name),
      "bcast.binomial");
}

TEST(Library, findsOperators) {
  const Library lib = Maker().make();
  size_t bytes = 0;
  const auto begin = reinterpret_cast<uintptr_t>(lib.header());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(nbc_library_reduction(lib.header(), "mine", &bytes)),
            begin);
  EXPECT_EQ(bytes, 8u);
  EXPECT_EQ(nbc_library_reduction(lib.header(), "double", nullptr), nullptr);
}

TEST(Library, anyFlippedBitOfTheTablesIsSeen) {
  Library lib = Maker().make();
  auto *bytes = reinterpret_cast<uint8_t *>(lib.words.data());
  const nbc_library right = *lib.header();
  const size_t code = right.code.offset, codeEnd = code + 4 * right.code.count;
  const size_t seal = offsetof(nbc_library, seal);
  for (size_t bit = 0; bit < right.templates_begin * 8; ++bit) {
    const size_t at = bit / 8;
    if ((at >= code && at < codeEnd) || (at >= seal && at < seal + 8)) continue;
    bytes[at] ^= uint8_t(1 << bit % 8);
    ASSERT_NE(lib.check(), 0) << "bit " << bit;
    bytes[at] ^= uint8_t(1 << bit % 8);
  }
  EXPECT_EQ(lib.check(), 0);
}

TEST(Library, whatIsCutOffIsRefused) {
  const Library lib = Maker().make();
  for (size_t bytes = 0; bytes < lib.size(); ++bytes)
    ASSERT_EQ(nbc_library_check(lib.header(), bytes, nullptr), NBC_ERROR_LIBRARY) << bytes;
  EXPECT_EQ(nbc_library_check(nullptr, 8, nullptr), NBC_ERROR_LIBRARY);
  const auto *inside = reinterpret_cast<const char *>(lib.header()) + 4;
  EXPECT_EQ(nbc_library_check(reinterpret_cast<const nbc_library *>(inside), 8, nullptr),
            NBC_ERROR_LIBRARY);
}

TEST(Library, eachPromiseBrokenOnce) {
  struct Damage {
    const char *why;  // part of the message
    std::function<void(Library &)> apply;
  };
  const auto algorithm = [](Library &l, size_t i) {
    return l.table<nbc_library_algorithm>(l.header()->algorithms) + i;
  };
  const auto made = [](Library &l, size_t i) {
    return l.table<nbc_library_template>(l.header()->templates) + i;
  };
  const auto target = [](Library &l) { return l.table<nbc_library_target>(l.header()->targets); };
  const auto operation = [](Library &l) {
    return l.table<nbc_library_operator>(l.header()->operators);
  };
  const Damage damages[] = {
      {"no library of nbcc: magic", [](Library &l) { l.header()->magic ^= 1; }},
      {"tables are of version 9; this runtime reads 2",
       [](Library &l) { l.header()->version = 9; }},
      {"do not fit into", [](Library &l) { l.header()->bytes += 8; }},
      {"do not fit into", [](Library &l) { l.header()->templates_begin = l.size() + 64; }},
      {"do not fit into", [](Library &l) { l.header()->templates_begin = 64; }},
      {"do not fit into", [](Library &l) { l.header()->templates_begin += 8; }},
      {"table of code begins at", [](Library &l) { l.header()->code.offset = 8; }},
      {"table of text begins at", [](Library &l) { l.header()->text.offset = UINT32_MAX; }},
      {"table of parameters has 4294967295 entries, more than fit",
       [](Library &l) { l.header()->parameters.count = UINT32_MAX; }},
      {"the text does not end",
       [](Library &l) { *(l.table<char>(l.header()->text) + l.header()->text.count - 1) = 'x'; }},
      {"a name does not end", [](Library &l) { std::memset(l.header()->name, 'x', 64); }},
      {"algorithm 0 names", [&](Library &l) { algorithm(l, 0)->name = 4096; }},
      {"algorithm 1 names", [&](Library &l) { algorithm(l, 1)->kind = NBC_KINDS; }},
      {"algorithm 1 names", [&](Library &l) { algorithm(l, 1)->build = 4; }},
      {"algorithm 1 names", [&](Library &l) { algorithm(l, 1)->build = NBC_LIBRARY_NONE; }},
      {"algorithm 1 names", [&](Library &l) { algorithm(l, 1)->ensures = 4; }},
      {"algorithm 0 names", [&](Library &l) { algorithm(l, 0)->place |= 1; }},
      {"algorithm 0 names", [&](Library &l) { algorithm(l, 0)->flags = NBC_LIBRARY_FLAGS; }},
      {"algorithm 0 names", [&](Library &l) { algorithm(l, 0)->shapes[2] = 6; }},
      {"algorithm 0 names", [&](Library &l) { algorithm(l, 0)->where = 4; }},
      {"algorithm 0 names", [&](Library &l) { algorithm(l, 0)->views = 65537; }},
      {"algorithm 0 names", [&](Library &l) { algorithm(l, 0)->proven_from = 65; }},
      {"algorithm 0 names", [&](Library &l) { algorithm(l, 0)->parameters = {1, 1}; }},
      {"algorithm 0 names", [&](Library &l) { algorithm(l, 0)->requirements = {0, UINT32_MAX}; }},
      {"algorithm 0 names", [&](Library &l) { algorithm(l, 0)->extents = {UINT32_MAX, 1}; }},
      {"algorithm 1, allgather.bruck, is not behind",
       [&](Library &l) { algorithm(l, 1)->name = algorithm(l, 0)->name; }},
      {"function 0 of the table",
       [](Library &l) {
         l.table<nbc_library_function>(l.header()->requirements)->code = NBC_LIBRARY_NONE;
       }},
      {"function 0 of the table",
       [](Library &l) { l.table<nbc_library_function>(l.header()->extents)->code = 4; }},
      {"parameter 0 has no name",
       [](Library &l) { l.table<nbc_library_parameter>(l.header()->parameters)->name = 4096; }},
      {"source 0 has no name", [](Library &l) { *l.table<uint32_t>(l.header()->sources) = 4096; }},
      {"target 0 has no name", [&](Library &l) { target(l)->name = 4096; }},
      {"target 0 has no name", [&](Library &l) { target(l)->protocol = 4; }},
      {"target 0 has no name", [&](Library &l) { target(l)->lengths = NBC_LENGTHS; }},
      {"template 0 is of", [&](Library &l) { made(l, 0)->ranks = 0; }},
      {"template 1 is of", [&](Library &l) { made(l, 1)->rank = 2; }},
      {"template 1 is of", [&](Library &l) { made(l, 1)->root = 2; }},
      {"template 1 is of", [&](Library &l) { made(l, 1)->algorithm = 2; }},
      {"template 1 is of", [&](Library &l) { made(l, 1)->target = 1; }},
      {"template 1 is of", [&](Library &l) { made(l, 1)->offset += 8; }},
      {"template 1 is of", [&](Library &l) { made(l, 1)->offset = 64; }},
      {"template 1 is of", [&](Library &l) { made(l, 1)->offset = UINT64_MAX - 63; }},
      {"template 5 is of", [&](Library &l) { made(l, 5)->bytes = 65; }},
      {"operator 0 names", [&](Library &l) { operation(l)->name = 4096; }},
      {"operator 0 names", [&](Library &l) { operation(l)->type = 4096; }},
      {"operator 0 names", [&](Library &l) { operation(l)->code = 4; }},
      {"operator 0 names", [&](Library &l) { operation(l)->element_bytes = 0; }},
      {"template 1 is not behind", [&](Library &l) { made(l, 1)->rank = 0; }},
  };
  for (const Damage &d : damages) {
    Library lib = Maker().make();
    d.apply(lib);
    // Where the tables' own sizes are wrong, no checksum can be computed, and none is looked at.
    const nbc_library &h = *lib.header();
    if (h.templates_begin <= lib.size() && h.templates_begin >= sizeof h) lib.seal();
    std::string why;
    EXPECT_EQ(lib.check(&why), NBC_ERROR_LIBRARY) << d.why;
    EXPECT_NE(why.find(d.why), std::string::npos) << why << "\n  instead of: " << d.why;
  }
}

TEST(Library, anotherMachineIsRefused) {
  Library lib = Maker().make();
  const char *why = nullptr;
  std::strcpy(lib.header()->architecture, "pdp11");
  lib.seal();
  EXPECT_EQ(nbc_library_use(lib.header(), &why), NBC_ERROR_LIBRARY);
  EXPECT_EQ(std::string(why).find("made for pdp11; this machine is "), 0u) << why;
#if defined(__x86_64__)
  std::strcpy(lib.header()->architecture, "x86_64");
  lib.header()->cpu_level = 5;
  lib.seal();
  EXPECT_EQ(lib.check(), 0) << "it is whole all the same";
  EXPECT_EQ(nbc_library_use(lib.header(), &why), NBC_ERROR_LIBRARY);
  EXPECT_STREQ(why, "its code needs x86-64-v5, which this processor is not");
#endif
}

/// With a right checksum, so that what is behind it is reached.
TEST(Library, randomTablesAreRefusedOrInBounds) {
  std::mt19937 random(7);
  int passed = 0;
  for (int i = 0; i < 20000; ++i) {
    Library lib = Maker().make();
    const size_t words = lib.header()->templates_begin / 8;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      uint64_t &w = lib.words[random() % words];
      switch (random() % 3) {
        case 0:
          w ^= uint64_t{1} << random() % 64;
          break;
        case 1:
          w = random() % 2 ? UINT64_MAX : random() % 256;
          break;
        case 2:
          w += random() % 9 - uint64_t{4};
          break;
      }
    }
    const nbc_library &h = *lib.header();
    if (h.templates_begin > lib.size() || h.templates_begin < sizeof h) continue;
    if (size_t{h.code.count} * 4 + 8 + sizeof h > h.templates_begin) continue;
    lib.seal();
    if (lib.check() != 0) continue;
    ++passed;
    size_t bytes = 0;
    for (const char *name : {"allgather.bruck", "bcast.binomial"})
      for (uint32_t rank = 0; rank < 2; ++rank)
        if (const void *t = nbc_library_find(lib.header(), name, "mpi", NBC_LENGTHS_EQUAL, 2, rank,
                                             rank, &bytes)) {
          const auto *begin = static_cast<const char *>(t);
          EXPECT_EQ(std::vector<char>(begin, begin + bytes).size(), bytes);
        }
  }
  EXPECT_GT(passed, 100);
}

}  // namespace
