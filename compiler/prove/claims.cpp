// SPDX-License-Identifier: BSD-3-Clause
// claims.cpp - what an algorithm costs, counted; and is it what it says of itself?
//
// A vector counts as one block, so its parts are fractions: they are added
// exactly, since `sent == 2` must not fail for 0.1 + 0.2.

#include <algorithm>
#include <limits>
#include <numeric>

#include "compiler/prove/stages.h"

namespace nbcc {

namespace {

__extension__ using Wide = __int128;

/// -1, 0, 1 as a is less than, equal to or greater than b.
int compare(const Amount &a, const Amount &b) {
  const Wide left = Wide{a.count} * b.parts, right = Wide{b.count} * a.parts;
  return (left > right) - (left < right);
}

/// False where the sum does not fit.
bool add(Amount &sum, const Amount &more) {
  int64_t together = 0;
  if (sum.parts == more.parts && !__builtin_add_overflow(sum.count, more.count, &together)) {
    sum.count = together;  // count() makes lowest terms of it
    return true;
  }
  const int64_t shared = std::gcd(sum.parts, more.parts);
  Wide parts = Wide{sum.parts} / shared * more.parts;
  Wide count = Wide{sum.count} * (more.parts / shared) + Wide{more.count} * (sum.parts / shared);
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  if (parts > most || count > most) return false;
  const int64_t both = std::gcd(static_cast<int64_t>(count), static_cast<int64_t>(parts));
  sum = {static_cast<int64_t>(count) / both, static_cast<int64_t>(parts) / both};
  return true;
}

std::string toString(const Amount &a) {
  return a.parts == 1 ? cat(a.count) : cat(a.count, "/", a.parts);
}

std::string_view symbol(ast::Operator op) {
  switch (op) {
    case ast::Operator::eq:
      return "==";
    case ast::Operator::lt:
      return "<";
    case ast::Operator::le:
      return "<=";
    case ast::Operator::gt:
      return ">";
    case ast::Operator::ge:
      return ">=";
    case ast::Operator::ne:
      return "!=";
    default:
      return "?";  // check() lets nothing else through
  }
}

bool isTrue(ast::Operator op, int order) {
  switch (op) {
    case ast::Operator::eq:
      return order == 0;
    case ast::Operator::lt:
      return order < 0;
    case ast::Operator::le:
      return order <= 0;
    case ast::Operator::gt:
      return order > 0;
    case ast::Operator::ge:
      return order >= 0;
    case ast::Operator::ne:
      return order != 0;
    default:
      return false;
  }
}

}  // namespace

void count(const Together &all, Proof &proof, Findings &findings) {
  for (const Schedule &s : all.ranks) {
    int64_t messages = 0;
    Amount sent;
    const Lengths lengths(s);
    for (const Step &step : s.steps) {
      messages += sends(step);
      if (step.op != Op::send) continue;
      if (!add(sent, lengths(s.from(step)))) {
        if (findings.take(step.loc))
          findings.diag.error(step.loc, "up to here rank ", s.rank,
                              " sends parts of so many different sizes that they cannot be added");
        return;
      }
    }
    const int64_t shared = std::gcd(sent.count, sent.parts);
    sent = {sent.count / shared, sent.parts / shared};
    proof.rounds = std::max<int64_t>(proof.rounds, s.rounds);
    proof.messages += messages;
    proof.mostMessages = std::max(proof.mostMessages, messages);
    if (compare(sent, proof.mostSent) > 0) proof.mostSent = sent;
  }
}

void checkClaims(std::span<const ClaimValue> claims, Order order, const Proof &proof,
                 const Combining &combining, const LinkUse &links, Findings &findings) {
  const std::string ranks = cat(" with ", proof.ranks, proof.ranks == 1 ? " rank" : " ranks");
  for (const ClaimValue &claim : claims) {
    const auto check = [&](const char *name, const Amount &found, const std::string &verb) {
      if (isTrue(claim.op, compare(found, {claim.bound, 1})) || !findings.take(claim.loc)) return;
      findings.diag.error(claim.loc, "claims ", name, " ", symbol(claim.op), " ", claim.bound,
                          ", but ", verb, " ", toString(found), ranks);
    };
    const auto checkNone = [&](const char *name, const std::string &why) {
      if (!why.empty() && findings.take(claim.loc))
        findings.diag.error(claim.loc, "claims ", name, ", but", ranks, " ", why);
    };
    switch (claim.what) {
      case ast::Claim::What::rounds:
        check("rounds", {proof.rounds, 1}, "it takes");
        break;
      case ast::Claim::What::messages:
        if (order == Order::rounds) check("messages", {proof.mostMessages, 1}, "a rank sends");
        break;
      case ast::Claim::What::sent:
        check("sent", proof.mostSent, "a rank sends");
        break;
      case ast::Claim::What::link_sharing:
        if (order == Order::rounds)
          check("link_sharing", {links.shared, 1},
                links.shared > 0 ? cat("from node ", links.from, " to ", links.to, " in step ",
                                       links.step, " there are")
                                 : "it is");
        break;
      case ast::Claim::What::rank_order:
        checkNone("rank_order", combining.outOfOrder);
        break;
      case ast::Claim::What::bitwise_same:
        checkNone("bitwise_same", combining.unlike);
        break;
      case ast::Claim::What::any_lengths:
        checkNone("any_lengths",
                  proof.anyLengths ? "" : "it is right only if all blocks are equally long");
        break;
    }
  }
}

}  // namespace nbcc
