// SPDX-License-Identifier: BSD-3-Clause
// mutate_words.cpp - for targets that read programs: changes by words, half of the time.
//
//   send out[me] to me + 1;   =>   send out[me] to P + 1;
//
// A changed byte mostly makes a word that is none. Here a run of words is left out, doubled
// elsewhere, exchanged or replaced, a whole statement at best, so more of what comes out is parsed
// and checked, and reaches the elaborator. Other half: libFuzzer's own changes. Linear in the text.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);

namespace nbcc {
namespace {

constexpr size_t kLongestRun = 12;  // words

bool isNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Names and numbers whole, all else by characters, blanks before a word with it.
std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end + 1 < text.size() && (text[end] == ' ' || text[end] == '\n')) ++end;
    if (isNamePart(text[end])) {
      while (end < text.size() && isNamePart(text[end])) ++end;
    } else {
      ++end;
    }
    result.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return result;
}

using Random = std::minstd_rand;
using Words = std::vector<std::string_view>;

size_t below(Random &random, size_t end) {
  return std::uniform_int_distribution<size_t>(0, end - 1)(random);
}

struct Range {
  size_t begin, end;
};

/// A few words; or, every other time, from behind a `;` or a brace up to the next `;`.
Range pick(const Words &all, Random &random) {
  size_t begin = below(random, all.size());
  if (below(random, 2) == 0)
    return {begin, std::min(all.size(), begin + 1 + below(random, kLongestRun))};
  const auto ends = [&](size_t i) { return all[i].back() == ';' || all[i].back() == '}'; };
  while (begin > 0 && !ends(begin - 1) && all[begin - 1].back() != '{') --begin;
  size_t end = begin;
  while (end < all.size() && !ends(end)) ++end;
  return {begin, std::min(all.size(), end + 1)};
}

std::string changed(const Words &all, Random &random) {
  const auto joined = [&](Range r) {
    std::string text;
    for (size_t i = r.begin; i < r.end; ++i) text += all[i];
    return text;
  };
  const size_t size = all.size(), at = below(random, size), other = below(random, size);
  const Range run = pick(all, random);
  switch (below(random, 5)) {
    case 0:  // left out
      return joined({0, run.begin}) + joined({run.end, size});
    case 1:  // doubled elsewhere
      return joined({0, at}) + joined(run) + joined({at, size});
    case 2:  // in the place of one word
      return joined({0, at}) + joined(run) + joined({at + 1, size});
    case 3: {  // two words exchanged
      const auto [low, high] = std::minmax(at, other);
      if (low == high) return joined({0, size});
      return joined({0, low}) + std::string(all[high]) + joined({low + 1, high}) +
             std::string(all[low]) + joined({high + 1, size});
    }
    default:  // one word becomes another
      return joined({0, at}) + std::string(all[other]) + joined({at + 1, size});
  }
}

}  // namespace
}  // namespace nbcc

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
  using namespace nbcc;
  Random random(seed);
  if (size < 2 || below(random, 2) == 0) return LLVMFuzzerMutate(bytes, size, most);
  const std::string_view text(reinterpret_cast<const char *>(bytes), size);
  std::string result = changed(words(text), random);
  result.resize(std::min(result.size(), most));
  std::memcpy(bytes, result.data(), result.size());
  return result.size();
}
