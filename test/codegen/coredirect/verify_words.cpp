// SPDX-License-Identifier: BSD-3-Clause
// Of queues that are chained by words: a template whose order was broken is found out, whichever
// entry it was.

#include <cstring>

#include "test/codegen/coredirect/support.h"
#include "test/runs/editor.h"

namespace nbcc {
namespace {

using namespace crosschannel;
using Kind = WordEntry::Kind;

struct WordsCase {
  const char *name;
  std::string (*make)(int P, int me);
  std::vector<int> ranks;
};

const WordsCase wordsCases[] = {
    {"ring", ring, {2, 3, 5, 8}},
    {"bruck", bruck, {2, 3, 5, 8, 13}},
    {"standard exchange", standardExchange, {2, 4, 8}},
    {"recursive doubling", recursiveDoubling, {2, 4, 8}},
};

TargetOptions onWords() {
  return {.device = findDevice(coredirect, "connectx7")};
}

std::string verifiedOnWords(const Template &t, std::span<const Legal> legals) {
  std::ostringstream out;
  Diag diag(out);
  coredirect_verifyTemplate(t, legals, onWords(), diag);
  return out.str();
}

/// What is said of a copy in which something was changed.
template <class Change>
std::string saidOf(Template t, std::span<const Legal> legals, Change change) {
  {
    Editor editor(t);
    change(editor);
  }
  return verifiedOnWords(t, legals);
}

/// An entry that does nothing in its place.
void drop(Editor &t, const Entry &e) {
  t.code(e.offset)[MLX5_CTRL_OPCODE] = MLX5_NOP;
}

/// A WAIT for a later word of the same sort is as right where the queue goes on with nothing that
/// anybody, before he writes that word, has to wait for; only later.
bool isMerelyLater(const View &view, const nbc_variant &v, uint32_t queue, const Entry &e,
                   uint32_t row, uint32_t word) {
  const uint32_t apart = view.queues[row].kind == NBC_QUEUE_CHAIN ? 3 : 1;
  for (const Entry &later : view.entries(*view.segment(v.segments, queue, NBC_RING_SEND))) {
    const WordEntry w = view.word(later);
    if (later.index > e.index && w.kind == Kind::wait && w.queue == row && w.word > word &&
        (w.word - word) % apart == 0)
      return true;
  }
  return false;
}

/// All mutants of a schedule's template; gives those that were not noticed.
std::vector<std::string> survivors(const Schedule &s, int &mutants, int &later) {
  const std::vector<Legal> legals = ways(s, onWords());
  const Template good = coredirect_emit(legals, onWords());
  EXPECT_EQ(verifiedOnWords(good, legals), "");
  std::vector<std::string> result;
  const View view(good);
  for (const nbc_variant &v : view.variants)
    for (uint32_t q = 0; q < view.queues.size(); ++q) {
      const nbc_segment *segment = view.segment(v.segments, q, NBC_RING_SEND);
      if (!segment) continue;
      WordEntry before;  // the WAIT before this one
      for (const Entry &e : view.entries(*segment)) {
        const WordEntry w = view.word(e);
        if (w.kind == Kind::none) continue;
        const auto mutant = [&](const char *what, auto change, bool harmless = false) {
          ++mutants;
          if (!saidOf(good, legals, change).empty()) return;
          if (harmless)
            ++later;
          else
            result.push_back(
                cat(what, " entry ", e.index, " of ", view.queueName(q), "\n", tasks(good)));
        };
        const bool chain = view.queues[w.queue].kind == NBC_QUEUE_CHAIN;
        const uint32_t apart = chain ? 3 : 1;
        mutant("drop", [&](Editor &t) { drop(t, e); });
        if (w.kind == Kind::wait && before.kind == Kind::wait)  // which says nothing new
          mutant("the same again", [&](Editor &t) { renameWord(t, e, before.queue, before.word); });
        if (w.kind == Kind::wait) before = w;
        mutant(
            "one more", [&](Editor &t) { renameWord(t, e, w.queue, w.word + apart); },
            w.kind == Kind::wait && isMerelyLater(view, v, q, e, w.queue, w.word));
        if (w.word >= apart)
          mutant("one less", [&](Editor &t) { renameWord(t, e, w.queue, w.word - apart); });
        if (chain)
          for (const uint32_t sort : {1u, 2u})
            mutant("another sort", [&](Editor &t) {
              renameWord(t, e, w.queue, 3 * (w.word / 3) + (w.word + sort) % 3);
            });
        for (uint32_t other = 0; other < view.queues.size(); ++other)
          if (other != w.queue)
            mutant("another queue", [&](Editor &t) { renameWord(t, e, other, w.word); });
      }
    }
  return result;
}

TEST(VerifyWords, NoticesEveryBrokenEntry) {
  int mutants = 0, later = 0;
  for (const WordsCase &c : wordsCases)
    for (const int P : c.ranks)
      for (const int me : {0, P / 2, P - 1}) {
        const std::vector<std::string> left = survivors(passed(c.make(P, me)), mutants, later);
        EXPECT_TRUE(left.empty()) << c.name << " " << me << " of " << P << ": " << left.size()
                                  << " not noticed, as\n"
                                  << (left.empty() ? "" : left[0]);
      }
  EXPECT_GT(mutants, 5000);
  EXPECT_LT(later * 50, mutants);
  RecordProperty("mutants", mutants);
  RecordProperty("later", later);
}

TEST(VerifyWords, NoticesAnotherCondition) {
  const std::vector<Legal> legals = ways(passed(ring(4, 1)), onWords());
  const Template good = coredirect_emit(legals, onWords());
  const View view(good);
  int found = 0;
  for (uint32_t q = 0; q < view.queues.size(); ++q)
    for (const Entry &e :
         view.entries(*view.segment(view.variants[0].segments, q, NBC_RING_SEND))) {
      if (view.word(e).kind != Kind::wait) continue;
      for (const int place :
           {MLX5_WORD_CONDITION + 3, MLX5_WORD_ADDR + 7, MLX5_WORD_VALUE + 0, MLX5_WORD_MASK + 0}) {
        const auto flip = [&](Editor &t) { t.code(e.offset + MLX5_SEGMENT)[place] ^= 1; };
        EXPECT_NE(saidOf(good, legals, flip), "") << place;
        ++found;
      }
    }
  EXPECT_GT(found, 20);
}

TEST(VerifyWords, IsOfTheDevicesOwnWay) {
  const std::vector<Legal> legals = ways(passed(ring(3, 0)), onWords());
  const Template good = coredirect_emit(legals, onWords());
  std::ostringstream out;
  Diag diag(out);
  coredirect_verifyTemplate(good, legals, {}, diag);
  EXPECT_NE(out.str().find("chained in another way than soft can"), std::string::npos) << out.str();
}

}  // namespace
}  // namespace nbcc
