// SPDX-License-Identifier: BSD-3-Clause
// A template that moves other memory than the schedule says, of the same length, is found out.

#include <algorithm>
#include <functional>

#include "test/codegen/coredirect/support.h"

namespace nbcc {
namespace {

using namespace crosschannel;

/// A table's entry, to be changed.
template <class T>
T &changed(const T &entry) {
  return const_cast<T &>(entry);
}

/// A program of two rounds that sends parts of what it received, packed.
std::string packing(int, int) {
  return "schedule @made alltoall rank 1 of 4 root 0 order rounds rounds 2\n"
         "  in in[4]\n  out out[4]\n  scratch tmp[3] like out[1 +: 2], out[0]\n"
         "  copy in[1] -> out[1] round 0\n  copy in[0] -> out[3] round 0\n"
         "  send in[2], in[0] to 2 round 0\n"
         "  recv tmp[0 +: 3] from 0 round 0\n  send tmp[1 +: 2], tmp[1 of 2] to 3 round 1\n"
         "  recv out[2] from 3 round 1\n  copy tmp[2] -> out[0] round 2\nend\n";
}

struct Case {
  const char *name;
  std::string (*make)(int P, int me);
};
const Case cases[] = {{"ring", ring},
                      {"bruck", bruck},
                      {"standard exchange", standardExchange},
                      {"recursive doubling", recursiveDoubling},
                      {"packing", packing}};

/// Every program, protocol and way of sending, of one rank.
void forAll(const std::function<void(const std::string &, const Template &,
                                     const std::vector<Legal> &)> &look) {
  for (const Case &c : cases)
    for (const Protocol protocol :
         {Protocol::eager, Protocol::rendezvous, Protocol::direct, Protocol::automatic})
      for (const bool perBlock : {false, true}) {
        TargetOptions options;
        options.protocol = protocol;
        options.slotPerBlock = perBlock;
        const std::vector<Legal> legals = ways(passed(c.make(4, 1)), options);
        const Template good = coredirect_emit(legals, options);
        ASSERT_EQ(verified(good, legals), "") << c.name;
        look(cat(c.name, ", protocol ", int(protocol), perBlock ? ", per block" : ""), good,
             legals);
      }
}

/// Whether two pieces of a caller's buffer, or two of rooms, are the same memory.
bool same(const nbc_piece &a, const nbc_piece &b) {
  if (a.buffer != b.buffer || a.shape != b.shape || a.parts != b.parts || a.first != b.first ||
      a.count != b.count || a.room != b.room || a.before.count != b.before.count)
    return false;
  return a.before.count == 0 || a.before.begin == b.before.begin;
}

/// Two pieces that a room begins with: where to write is all that RADDR says.
bool beginAlike(const nbc_piece &a, const nbc_piece &b) {
  return a.buffer == b.buffer && a.buffer != a.shape && b.buffer != b.shape && a.room == b.room &&
         a.before.count + b.before.count == 0;
}

TEST(VerifyPlaces, NoticesAnotherPieceOfTheRightLength) {
  int mutants = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    const View view(good);
    for (size_t k = 0; k < view.relocs.size(); ++k) {
      const nbc_reloc &r = view.relocs[k];
      if (r.rule != NBC_RELOC_SGE && r.rule != NBC_RELOC_SLOT && r.rule != NBC_RELOC_RADDR)
        continue;
      for (uint32_t other = 0; other + r.extra < view.pieces.size(); ++other) {
        if (same(view.pieces[r.what], view.pieces[other])) continue;
        if (r.rule == NBC_RELOC_RADDR && beginAlike(view.pieces[r.what], view.pieces[other]))
          continue;
        Template bad = good;
        changed(View(bad).relocs[k]).what = other;
        seal(bad);
        ++mutants;
        EXPECT_NE(verified(bad, legals), "") << name << ": piece " << other << " for " << r.what;
      }
    }
  });
  EXPECT_GT(mutants, 500);
}

TEST(VerifyPlaces, NoticesPiecesThatTheHostMistakes) {
  int mutants = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    const View view(good);
    for (size_t k = 0; k < view.hosts.size(); ++k)
      for (nbc_range nbc_host::*of : {&nbc_host::from, &nbc_host::with, &nbc_host::to})
        for (uint32_t other = 0; other < view.pieces.size(); ++other) {
          const nbc_range range = view.hosts[k].*of;
          if (range.count == 0 || other + range.count > view.pieces.size()) continue;
          if (same(view.pieces[range.begin], view.pieces[other])) continue;
          Template bad = good;
          (changed(View(bad).hosts[k]).*of).begin = other;
          seal(bad);
          ++mutants;
          EXPECT_NE(verified(bad, legals), "")
              << name << ": host " << k << ", piece " << other << " for " << range.begin;
        }
  });
  EXPECT_GT(mutants, 500);
}

/// The pieces that something names, or, `measured`, that lie before such a one.
std::vector<bool> named(const View &view, bool measured) {
  std::vector<bool> result(view.pieces.size());
  const auto mark = [&](uint32_t begin, uint32_t count) {
    std::fill_n(result.begin() + begin, count, true);
  };
  for (const nbc_reloc &r : view.relocs)
    if (r.rule == NBC_RELOC_SGE || r.rule == NBC_RELOC_SLOT || r.rule == NBC_RELOC_RADDR)
      mark(r.what, r.extra + 1);
  for (const nbc_host &host : view.hosts)
    for (const nbc_range &range : {host.from, host.with, host.to}) mark(range.begin, range.count);
  const std::vector<bool> direct = result;
  for (size_t k = 0; measured && k < direct.size(); ++k)
    if (direct[k]) mark(view.pieces[k].before.begin, view.pieces[k].before.count);
  return result;
}

/// Each field of each piece. Some mutants are damaged, and nbc_template_check() says so.
TEST(VerifyPlaces, NoticesAPieceThatLiesElsewhere) {
  const struct {
    const char *what;
    bool length;  // matters in what is only measured, too
    void (*change)(const View &, nbc_piece &);
  } mistakes[] = {
      {"first", true, [](const View &, nbc_piece &p) { p.first += p.first == 0 ? 1 : -1; }},
      {"shape", true, [](const View &, nbc_piece &p) { p.shape ^= 1; }},
      {"room", false, [](const View &, nbc_piece &p) { p.room += p.room == 0 ? 1 : -1; }},
      {"before", false,
       [](const View &, nbc_piece &p) { p.before.count += p.before.count ? -1 : 1; }},
      {"buffer", false,
       [](const View &view, nbc_piece &p) {
         for (uint32_t b = 0; b < view.buffers.size(); ++b)
           if (b != p.buffer && view.buffers[b].role >= NBC_ROLE_STAGING) return void(p.buffer = b);
       }},
  };
  int noticed = 0, damaged = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    const std::vector<bool> places = named(View(good), false), lengths = named(View(good), true);
    for (size_t k = 0; k < View(good).pieces.size(); ++k)
      for (const auto &mistake : mistakes) {
        if (!(mistake.length ? lengths : places)[k]) continue;
        Template bad = good;
        const View view(bad);
        nbc_piece &piece = changed(view.pieces[k]);
        const nbc_piece was = piece;
        mistake.change(view, piece);
        // What is in the caller's memory has no room, and nothing before it.
        const bool read = was.buffer != was.shape || piece.buffer != was.buffer ||
                          piece.first != was.first || piece.shape != was.shape;
        if (same(was, piece) || !read) continue;
        seal(bad);
        const std::string said = verified(bad, legals);
        EXPECT_NE(said, "") << name << ": " << mistake.what << " of piece " << k;
        (said.find("damaged") == std::string::npos ? noticed : damaged) += 1;
      }
  });
  EXPECT_GT(noticed, 150);
  RecordProperty("damaged", damaged);
}

TEST(VerifyPlaces, NoticesAnotherRoomOfAReceiveAhead) {
  int mutants = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    const nbc_range run = View(good).header.ahead_relocs;
    for (uint32_t k = run.begin; k < run.begin + run.count; ++k)
      for (uint32_t other = run.begin; other < run.begin + run.count; ++other) {
        if (k == other) continue;
        Template bad = good;  // two change places, as far as they fit
        const View view(bad);
        std::swap(changed(view.relocs[k]).addend, changed(view.relocs[other]).addend);
        std::swap(changed(view.relocs[k]).extra, changed(view.relocs[other]).extra);
        seal(bad);
        ++mutants;
        EXPECT_NE(verified(bad, legals), "") << name << ": " << k << " and " << other;
      }
  });
  EXPECT_GT(mutants, 20);
}

/// One data segment for what lies in two places, and one for nothing.
TEST(VerifyPlaces, NoticesADataSegmentForTwoPlaces) {
  int mutants = 0;
  forAll([&](const std::string &name, const Template &good, const std::vector<Legal> &legals) {
    const std::vector<bool> used = named(View(good), true);
    const auto free = std::find(used.begin(), used.end(), false) - used.begin();
    if (free == static_cast<ptrdiff_t>(used.size())) return;
    for (size_t k = 0; k + 1 < View(good).relocs.size(); ++k) {
      Template bad = good;
      const View view(bad);
      nbc_reloc &one = changed(view.relocs[k]), &next = changed(view.relocs[k + 1]);
      if (one.rule != NBC_RELOC_SGE || next.rule != NBC_RELOC_SGE ||
          next.at != one.at + MLX5_SEGMENT || next.what != one.what + one.extra + 1)
        continue;
      one.extra += 1 + next.extra;
      next.what = static_cast<uint32_t>(free);
      next.extra = 0;
      changed(view.pieces[free]).count = 0;
      seal(bad);
      const std::string said = verified(bad, legals);
      if (said.find("damaged") != std::string::npos) continue;  // a room of the other protocol
      ++mutants;
      EXPECT_NE(said.find("is not behind the one before it"), std::string::npos)
          << name << ": " << k << "\n"
          << said;
    }
  });
  EXPECT_GT(mutants, 0);
}

/// Rooms of one variant in the staging of another: their blocks can differ in length.
TEST(VerifyPlaces, NoticesTheStagingOfAnotherVariant) {
  TargetOptions options;
  options.protocol = Protocol::eager;
  const Schedule inPlace = passed(standardExchange(4, 1), true);
  const std::vector<Legal> legals = ways(passed(standardExchange(4, 1)), options, &inPlace);
  Template t = coredirect_emit(legals, options);
  ASSERT_EQ(verified(t, legals), "");
  const View view(t);
  std::vector<uint32_t> staging;
  for (uint32_t b = 0; b < view.buffers.size(); ++b)
    if (view.buffers[b].role == NBC_ROLE_STAGING) staging.push_back(b);
  ASSERT_EQ(staging.size(), 2u);
  for (const nbc_piece &piece : view.pieces)
    if (piece.buffer == staging[1]) changed(piece).buffer = staging[0];
  seal(t);
  EXPECT_NE(verified(t, legals).find("is not in its place"), std::string::npos);
}

TEST(VerifyPlaces, SaysWhatIsWhere) {
  TargetOptions options;
  options.protocol = Protocol::eager;
  const std::vector<Legal> legals = ways(passed(ring(3, 0)), options);
  Template t = coredirect_emit(legals, options);
  const View view(t);
  std::swap(changed(view.relocs[view.header.ahead_relocs.begin]).addend,
            changed(view.relocs[view.header.ahead_relocs.begin + 1]).addend);
  seal(t);
  const std::string said = verified(t, legals);
  EXPECT_NE(said.find("at block 0 of slots behind 0 others, is not in its place in slot0, which is "
                      "in the room at block 1 of slots"),
            std::string::npos)
      << said;
}

// --- CREDIT ------------------------------------------------------------------------

/// A template with credits, for peers that are both, and for those that are one or the other.
void forCredits(const std::function<void(Template &, const View &, const nbc_variant &)> &change,
                const char *report,
                const std::vector<Case> &programs = {{"ring", ring},
                                                     {"standard exchange", standardExchange}}) {
  for (const Case &c : programs) {
    TargetOptions options;
    options.protocol = Protocol::eager;
    const std::vector<Legal> legals = ways(passed(c.make(4, 1)), options);
    Template t = coredirect_emit(legals, options);
    ASSERT_EQ(verified(t, legals), "");
    const View view(t);
    ASSERT_EQ(view.variants.back().flags, uint32_t{NBC_VARIANT_CREDIT});
    change(t, view, view.variants.back());
    seal(t);
    EXPECT_NE(verified(t, legals).find(report), std::string::npos)
        << c.name << ": wanted " << report << ", got " << verified(t, legals);
  }
}

unsigned char *codeOf(const View &view) {
  return const_cast<unsigned char *>(view.code);
}

/// The first entry of the management queue with this opcode.
Entry entryOf(const View &view, const nbc_variant &credit, uint8_t opcode) {
  for (const Entry &e : view.entries(*view.segment(credit.segments, 0, NBC_RING_SEND)))
    if (e.opcode == opcode) return e;
  ADD_FAILURE() << "no such entry";
  return {};
}

void drop(const View &view, const Entry &e) {
  codeOf(view)[e.offset + MLX5_CTRL_OPCODE] = MLX5_NOP;
}

TEST(VerifyCredits, NoticesAWaitThatIsLeftOut) {
  forCredits([](Template &, const View &view,
                const nbc_variant &credit) { drop(view, entryOf(view, credit, MLX5_WAIT)); },
             "wait for the credit of cts");
}

TEST(VerifyCredits, NoticesAMessageThatIsNotEnabled) {
  forCredits([](Template &, const View &view,
                const nbc_variant &credit) { drop(view, entryOf(view, credit, MLX5_SEND_EN)); },
             "only 0 of 1 entries are ever enabled");
}

TEST(VerifyCredits, NoticesAWaitForWhatWasSent) {
  forCredits(
      [](Template &, const View &view, const nbc_variant &credit) {
        const Entry wait = entryOf(view, credit, MLX5_WAIT);
        for (const nbc_range &run : {credit.bind, credit.relocs})
          for (const nbc_reloc &r : view.relocsAt(run, wait.offset + MLX5_SEGMENT, MLX5_SEGMENT))
            changed(r).side = NBC_SIDE_SEND;
      },
      "waits for what was sent on cts");
}

TEST(VerifyCredits, NoticesAWaitForThisCallInsteadOfTheWindowBefore) {
  forCredits(
      [](Template &, const View &view, const nbc_variant &credit) {
        for (const nbc_reloc &r : view.relocs.subspan(credit.relocs.begin, credit.relocs.count))
          if (r.rule == NBC_RELOC_CREDIT) changed(r).rule = NBC_RELOC_WAIT;
      },
      "a relocation is missing or says something else than the bytes");
}

TEST(VerifyCredits, NoticesACqOfTheOtherSide) {
  forCredits(
      [](Template &, const View &view, const nbc_variant &credit) {
        for (const nbc_reloc &r : view.relocs.subspan(credit.bind.begin, credit.bind.count))
          if (r.rule == NBC_RELOC_CQN) changed(r).side = NBC_SIDE_SEND;
      },
      "a relocation is missing or says something else than the bytes");
}

TEST(VerifyCredits, NoticesACompletion) {
  forCredits(
      [](Template &, const View &view, const nbc_variant &credit) {
        const nbc_segment &mq = *view.segment(credit.segments, 0, NBC_RING_SEND);
        codeOf(view)[entryOf(view, credit, MLX5_WAIT).offset + MLX5_CTRL_FLAGS] = MLX5_CE_ALWAYS;
        changed(mq).send_cqes = 1;
      },
      "damaged: ");
}

TEST(VerifyCredits, NoticesAMessageThatIsSignalled) {
  forCredits(
      [](Template &, const View &view, const nbc_variant &credit) {
        for (const nbc_segment &s : view.segmentsOf(credit.segments))
          if (s.queue != 0 && s.ring == NBC_RING_SEND) {
            codeOf(view)[s.offset + MLX5_CTRL_FLAGS] = MLX5_CE_ALWAYS;
            changed(s).send_cqes = 1;
          }
      },
      "damaged: ");
}

/// What is for the one end of the ring is on the queue of the other.
TEST(VerifyCredits, NoticesTheWrongDirection) {
  for (const uint32_t side : {NBC_RING_SEND, NBC_RING_RECV})
    forCredits(
        [&](Template &, const View &view, const nbc_variant &credit) {
          for (const nbc_segment &s : view.segmentsOf(credit.segments)) {
            if (s.ring != side || s.queue == 0) continue;
            uint32_t q = 0;
            while (view.queues[q].kind != NBC_QUEUE_CTS || q == s.queue) ++q;
            changed(s).queue = q;
            return;
          }
        },
        "receives where eager calls need", {{"ring", ring}});
}

TEST(VerifyCredits, NoticesThatThereAreNone) {
  forCredits(
      [](Template &t, const View &, const nbc_variant &) {
        --reinterpret_cast<nbc_template *>(t.words.data())->variants.count;
      },
      "1 variants of 1 and credits");
}

}  // namespace
}  // namespace nbcc
