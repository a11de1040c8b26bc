// SPDX-License-Identifier: BSD-3-Clause
// A template whose order was broken is found out, whichever entry it was.

#include <cstring>

#include "test/codegen/coredirect/support.h"

namespace nbcc {
namespace {

using namespace crosschannel;

struct TemplateCase {
  const char *name;
  std::string (*make)(int P, int me);
  std::vector<int> ranks;
};

const TemplateCase templateCases[] = {
    {"ring", ring, {2, 3, 5, 8}},
    {"bruck", bruck, {2, 3, 5, 8, 13}},
    {"standard exchange", standardExchange, {2, 4, 8, 16}},
    {"recursive doubling", recursiveDoubling, {2, 4, 8, 16}},
};

unsigned char *bytesOf(Template &t) {
  return reinterpret_cast<unsigned char *>(t.words.data());
}

/// Changes the limit of an entry of the management queue, in its bytes and in what is filled in.
void shift(Template &t, const Entry &e, int by) {
  const View view(t);
  mlx5_put32(bytesOf(t) + view.header.code.offset + e.offset + MLX5_SEGMENT + MLX5_CD_INDEX,
             e.limit + by);
  for (const nbc_reloc &r : view.relocs)
    if (r.at == e.offset + MLX5_SEGMENT + MLX5_CD_INDEX &&
        (r.rule == NBC_RELOC_WAIT || r.rule == NBC_RELOC_ENABLE))
      const_cast<nbc_reloc &>(r).addend += by;
  seal(t);
}

/// An entry that does nothing in its place; what fills it in harms nobody.
void drop(Template &t, const Entry &e) {
  const View view(t);
  bytesOf(t)[view.header.code.offset + e.offset + MLX5_CTRL_OPCODE] = MLX5_NOP;
  seal(t);
}

/// With a message for each block a round has several entries for one peer. There a
/// WAIT for one completion more, or a SEND_EN that is left out, can be as right as
/// before, only later: if a later entry waits for, or enables, the same. That it
/// still comes early enough for the other ranks verifyTemplate() has checked.
bool isMerelyLater(const std::vector<Entry> &entries, const Entry &e) {
  for (const Entry &later : entries)
    if (later.index > e.index && later.opcode == e.opcode && later.number == e.number &&
        later.limit > e.limit)
      return true;
  return false;
}

/// Every mutant of every entry of the management queue; gives those that were not noticed.
std::vector<std::string> survivors(const Schedule &s, const TargetOptions &options, int &mutants) {
  const std::vector<Legal> legals = ways(s, options);
  const Template good = coredirect_emit(legals, options);
  EXPECT_EQ(verified(good, legals), "");
  std::vector<std::string> result;
  const View view(good);
  for (size_t v = 0; v < legals.size(); ++v) {
    const nbc_segment *mq = view.segment(view.variants[v].segments, 0, NBC_RING_SEND);
    if (!mq) continue;
    const std::vector<Entry> entries = view.entries(*mq);
    for (const Entry &e : entries) {
      const auto mutant = [&](const char *what, auto change, bool harmless = false) {
        Template bad = good;
        change(bad);
        ++mutants;
        if (verified(bad, legals).empty() && !harmless)
          result.push_back(cat(what, " entry ", e.index, " of ", view.variantName(view.variants[v]),
                               "\n", tasks(good)));
      };
      if (e.opcode == MLX5_NOP) continue;
      const bool later = options.slotPerBlock && isMerelyLater(entries, e);
      mutant("drop", [&](Template &t) { drop(t, e); }, later && e.opcode == MLX5_SEND_EN);
      // For a message of an earlier round instead of a token that came before it.
      const bool behind = options.protocol == Protocol::direct && isMerelyLater(entries, e);
      mutant(
          "one more", [&](Template &t) { shift(t, e, 1); },
          (later || behind) && e.opcode == MLX5_WAIT);
      mutant("one less", [&](Template &t) { shift(t, e, -1); });
    }
  }
  return result;
}

TEST(VerifyTemplate, NoticesEveryBrokenEntry) {
  int mutants = 0;
  for (const TemplateCase &c : templateCases)
    for (const int P : c.ranks)
      for (const int me : {0, P / 2, P - 1})
        for (const int way : {0, 1, 2}) {
          TargetOptions options;
          options.slotPerBlock = way == 1;
          if (way == 2) options.protocol = Protocol::direct;
          const std::vector<std::string> left = survivors(passed(c.make(P, me)), options, mutants);
          EXPECT_TRUE(left.empty()) << c.name << " " << me << " of " << P << ": " << left.size()
                                    << " not noticed, " << left.front();
        }
  RecordProperty("mutants", mutants);
  EXPECT_GT(mutants, 5000);
}

TEST(VerifyTemplate, NamesTheStepThatLostItsOrder) {
  const std::vector<Legal> legals =
      ways(passed(standardExchange(4, 0)), {.protocol = Protocol::eager});
  Template t = coredirect_emit(legals, {.protocol = Protocol::eager});
  const View view(t);
  drop(t, view.entries(*view.segment(view.variants[0].segments, 0, NBC_RING_SEND))[1]);
  const std::string said = verified(t, legals);
  EXPECT_NE(said.find("step %3 (send to 2) may start before step %2 (recv from 1) is done: entry 2 "
                      "of mq enables it, and no WAIT is for the other"),
            std::string::npos)
      << said;
}

TEST(VerifyTemplate, NoticesOtherData) {
  const std::vector<Legal> legals = ways(passed(ring(4, 1)), {.protocol = Protocol::rendezvous});
  const Template good = coredirect_emit(legals, {.protocol = Protocol::rendezvous});
  for (size_t reloc = 0; reloc < View(good).relocs.size(); ++reloc) {
    Template t = good;
    const View view(t);
    if (view.relocs[reloc].rule != NBC_RELOC_SGE) continue;
    const_cast<nbc_piece &>(view.pieces[view.relocs[reloc].what]).parts = 2;
    seal(t);
    EXPECT_NE(verified(t, legals).find("other data"), std::string::npos) << reloc;
  }
}

TEST(VerifyTemplate, NoticesDamage) {
  const std::vector<Legal> legals = ways(passed(ring(4, 1)), {});
  Template t = coredirect_emit(legals, {});
  bytesOf(t)[t.bytes / 2] ^= 1;
  EXPECT_NE(verified(t, legals).find("the template is damaged"), std::string::npos);
}

}  // namespace
}  // namespace nbcc
