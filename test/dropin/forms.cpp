// SPDX-License-Identifier: BSD-3-Clause
// forms.cpp - every collective, blocking, nonblocking (three in flight) and persistent (started
// four times).
//
// What comes out is compared with what MPI's text says, worked out here without any communication.

#include <algorithm>
#include <functional>
#include <numeric>

#include "test/dropin/expect.h"

namespace {

using Ints = std::vector<int>;

enum Form { blocking, nonblocking, persistent };
const char *const form_names[] = {"blocking", "nonblocking", "persistent"};

MPI_Comm comm = MPI_COMM_NULL;
MPI_Comm ring = MPI_COMM_NULL;  // a periodic grid of one dimension

// A collective on buffers that stay where they are: in all three forms.
struct Call {
  std::function<void()> block;
  std::function<void(MPI_Request *)> start, init;
};

// One call's buffers. `fill` sets them for a salt, `right` compares them.
struct Case {
  std::string name;
  Ints in, out;
  std::function<void(Case &, int salt)> fill;
  std::function<bool(const Case &, int salt)> right;
  std::function<Call(Case &)> call;
};

void run(const std::function<Case()> &make, Form form, int count) {
  auto check = [&](Case &c, int salt) {
    expect(c.right(c, salt), "%s, %s, count %d", c.name.c_str(), form_names[form], count);
  };
  if (form == blocking) {
    for (int salt = 0; salt < 3; ++salt) {
      Case c = make();
      c.fill(c, salt);
      c.call(c).block();
      check(c, salt);
    }
  } else if (form == nonblocking) {
    std::vector<Case> cases;
    for (int i = 0; i < 3; ++i) cases.push_back(make());
    std::vector<MPI_Request> requests(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      cases[i].fill(cases[i], static_cast<int>(i));
      cases[i].call(cases[i]).start(&requests[i]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      check(cases[i], static_cast<int>(i));
      expect(requests[i] == MPI_REQUEST_NULL, "%s: a request is left", cases[i].name.c_str());
    }
  } else {
    Case c = make();
    MPI_Request request;
    c.fill(c, 0);
    c.call(c).init(&request);
    for (int salt = 0; salt < 4; ++salt) {
      c.fill(c, salt);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect(request != MPI_REQUEST_NULL, "%s: the persistent request is gone", c.name.c_str());
      check(c, salt);
    }
    MPI_Request_free(&request);
  }
}

// The three calls of a collective with the same arguments.
#define CALL(Name, name, ...)                                                    \
  [=](Case &of) -> Call {                                                        \
    int *in = of.in.data(), *out = of.out.data();                                \
    (void)in, (void)out;                                                         \
    return {[=] { MPI_##Name(__VA_ARGS__); },                                    \
            [=](MPI_Request *r) { MPI_I##name(__VA_ARGS__, r); },                \
            [=](MPI_Request *r) { INIT(Name)(__VA_ARGS__, MPI_INFO_NULL, r); }}; \
  }

std::size_t size(int n) {
  return static_cast<std::size_t>(n);
}

// Where it is: persistent calls know the place.
void set(Ints &to, const Ints &from) {
  std::copy(from.begin(), from.end(), to.begin());
}

// What all ranks contribute, one behind the other.
Ints all_of(int count, int salt, int first = 0) {
  Ints all;
  for (int r = 0; r < ranks; ++r) {
    Ints part = elements(r, first, count, salt);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Ints sum_of(int from, int to, int first, int count, int salt) {  // of ranks [from, to)
  Ints sum(size(count));
  for (int r = from; r < to; ++r)
    for (int i = 0; i < count; ++i) sum[size(i)] += element(r, first + i, salt);
  return sum;
}

Case start(std::string name, int in, int out) {
  Case c;
  c.name = std::move(name);
  c.in.reserve(size(in) + 1);  // an address of its own, also of nothing
  c.out.reserve(size(out) + 1);
  c.in.resize(size(in));
  c.out.resize(size(out));
  c.fill = [in](Case &self, int salt) {
    set(self.in, elements(me, 0, in, salt));
    std::fill(self.out.begin(), self.out.end(), -1);
  };
  return c;
}

// Blocks of lengths of their own: r % 3 more than count, some of nothing.
int length(int r, int count) {
  return r % 4 == 3 ? 0 : count + r % 3;
}
struct Rows {
  Ints counts, places;
  int all = 0;
};
Rows rows(int blocks, int count, int (*of)(int, int) = length) {
  Rows row;
  for (int r = 0; r < blocks; ++r) {
    row.counts.push_back(of(r, count));
    row.places.push_back(row.all);
    row.all += row.counts.back() + 1;  // with a gap
  }
  return row;
}

// A row's blocks from each rank; gaps -1.
bool row_right(const Ints &out, const Rows &row,
               const std::function<int(int block, int i)> &value) {
  Ints wanted(size(row.all), -1);
  for (std::size_t r = 0; r < row.counts.size(); ++r)
    for (int i = 0; i < row.counts[r]; ++i)
      wanted[size(row.places[r] + i)] = value(static_cast<int>(r), i);
  return out == wanted;
}

// From a to b go (a + b) % 3 more than n, or nothing.
int between(int a, int b, int n) {
  return (a + b) % 4 == 3 ? 0 : n + (a + b) % 3;
}

// What came from each rank, which it had at a place of its own.
bool exchange_right(const Case &s, int n, int salt) {
  Rows row;
  for (int r = 0; r < ranks; ++r) {
    row.counts.push_back(between(me, r, n));
    row.places.push_back(row.all);
    row.all += row.counts.back() + 1;
  }
  return row_right(s.out, row, [=](int r, int i) {
    int place = 0;
    for (int q = 0; q < me; ++q) place += between(r, q, n) + 1;
    return element(r, place + i, salt);
  });
}

// The ring's neighbours: the rank before, then the one behind. What is meant for the one behind
// comes from the one before; where there is one block for all, it is the first.
bool neighbors_right(const Case &s, int n, int salt, int second_block) {
  int before = (me + ranks - 1) % ranks, behind = (me + 1) % ranks;
  Ints wanted = elements(before, second_block, n, salt), other = elements(behind, 0, n, salt);
  wanted.insert(wanted.end(), other.begin(), other.end());
  return s.out == wanted;
}

std::vector<std::function<Case()>> cases(int n) {
  std::vector<std::function<Case()>> all;
  int root = n % ranks;

  all.push_back([=] {
    Case c = start("Allgather", n, n * ranks);
    c.right = [=](const Case &s, int salt) { return s.out == all_of(n, salt); };
    c.call = CALL(Allgather, allgather, in, n, MPI_INT, out, n, MPI_INT, comm);
    return c;
  });
  all.push_back([=] {
    Case c = start("Allgather in place", 0, n * ranks);
    c.fill = [=](Case &s, int salt) {
      std::fill(s.out.begin(), s.out.end(), -1);
      for (int i = 0; i < n; ++i) s.out[size(me * n + i)] = element(me, i, salt);
    };
    c.right = [=](const Case &s, int salt) { return s.out == all_of(n, salt); };
    c.call = CALL(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, comm);
    return c;
  });
  static std::vector<Rows> kept;  // arrays stay until calls are done
  kept.reserve(1000);
  kept.push_back(rows(ranks, n));
  const Rows &v = kept.back();
  const int *counts = v.counts.data(), *places = v.places.data();
  int mine = length(me, n), row_all = v.all;
  all.push_back([=] {
    Case c = start("Allgatherv", mine, row_all);
    c.right = [=](const Case &s, int salt) {
      return row_right(s.out, rows(ranks, n), [=](int r, int i) { return element(r, i, salt); });
    };
    c.call = CALL(Allgatherv, allgatherv, in, mine, MPI_INT, out, counts, places, MPI_INT, comm);
    return c;
  });
  all.push_back([=] {
    Case c = start("Alltoall", n * ranks, n * ranks);
    c.right = [=](const Case &s, int salt) { return s.out == all_of(n, salt, me * n); };
    c.call = CALL(Alltoall, alltoall, in, n, MPI_INT, out, n, MPI_INT, comm);
    return c;
  });
  all.push_back([=] {
    Case c = start("Alltoall in place", 0, n * ranks);
    c.fill = [=](Case &s, int salt) { set(s.out, elements(me, 0, n * ranks, salt)); };
    c.right = [=](const Case &s, int salt) { return s.out == all_of(n, salt, me * n); };
    c.call = CALL(Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, n, MPI_INT, comm);
    return c;
  });
  kept.push_back({});
  for (int r = 0; r < ranks; ++r) {
    kept.back().counts.push_back(between(me, r, n));
    kept.back().places.push_back(kept.back().all);
    kept.back().all += kept.back().counts.back() + 1;
  }
  const int *to_counts = kept.back().counts.data(), *to_places = kept.back().places.data();
  int to_all = kept.back().all;
  all.push_back([=] {
    Case c = start("Alltoallv", to_all, to_all);
    c.right = [=](const Case &s, int salt) { return exchange_right(s, n, salt); };
    c.call = CALL(Alltoallv, alltoallv, in, to_counts, to_places, MPI_INT, out, to_counts,
                  to_places, MPI_INT, comm);
    return c;
  });
  kept.push_back({});
  for (int r = 0; r < ranks; ++r)
    kept.back().places.push_back(to_places[r] * static_cast<int>(sizeof(int)));
  const int *to_bytes = kept.back().places.data();
  static std::vector<MPI_Datatype> types(size(ranks), MPI_INT);
  const MPI_Datatype *ints = types.data();
  all.push_back([=] {
    Case c = start("Alltoallw", to_all, to_all);
    c.right = [=](const Case &s, int salt) { return exchange_right(s, n, salt); };
    c.call = CALL(Alltoallw, alltoallw, in, to_counts, to_bytes, ints, out, to_counts, to_bytes,
                  ints, comm);
    return c;
  });
  for (bool in_place : {false, true}) {
    auto fill = [=](Case &s, int salt) {
      set(s.in, elements(me, 0, n, salt));
      if (in_place)
        set(s.out, s.in);
      else
        std::fill(s.out.begin(), s.out.end(), -1);
    };
    const char *how = in_place ? " in place" : "";
    all.push_back([=] {
      Case c = start(std::string("Allreduce") + how, n, n);
      c.fill = fill;
      c.right = [=](const Case &s, int salt) { return s.out == sum_of(0, ranks, 0, n, salt); };
      c.call = in_place ? std::function<Call(Case &)>(CALL(Allreduce, allreduce, MPI_IN_PLACE, out,
                                                           n, MPI_INT, MPI_SUM, comm))
                        : CALL(Allreduce, allreduce, in, out, n, MPI_INT, MPI_SUM, comm);
      return c;
    });
    all.push_back([=] {
      Case c = start(std::string("Reduce") + how, n, n);
      c.fill = fill;
      c.right = [=](const Case &s, int salt) {
        return me != root || s.out == sum_of(0, ranks, 0, n, salt);
      };
      c.call = in_place && me == root
                   ? std::function<Call(Case &)>(
                         CALL(Reduce, reduce, MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, root, comm))
                   : CALL(Reduce, reduce, in, out, n, MPI_INT, MPI_SUM, root, comm);
      return c;
    });
    all.push_back([=] {
      Case c = start(std::string("Scan") + how, n, n);
      c.fill = fill;
      c.right = [=](const Case &s, int salt) { return s.out == sum_of(0, me + 1, 0, n, salt); };
      c.call = in_place ? std::function<Call(Case &)>(
                              CALL(Scan, scan, MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, comm))
                        : CALL(Scan, scan, in, out, n, MPI_INT, MPI_SUM, comm);
      return c;
    });
    all.push_back([=] {
      Case c = start(std::string("Exscan") + how, n, n);
      c.fill = fill;
      c.right = [=](const Case &s, int salt) {
        return me == 0 || s.out == sum_of(0, me, 0, n, salt);
      };
      c.call = in_place ? std::function<Call(Case &)>(
                              CALL(Exscan, exscan, MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, comm))
                        : CALL(Exscan, exscan, in, out, n, MPI_INT, MPI_SUM, comm);
      return c;
    });
    all.push_back([=] {
      Case c = start(std::string("Reduce_scatter_block") + how, n * ranks, n * ranks);
      c.fill = [=](Case &s, int salt) {
        set(s.in, elements(me, 0, n * ranks, salt));
        set(s.out, in_place ? s.in : Ints(size(n * ranks), -1));
      };
      c.right = [=](const Case &s, int salt) {
        return Ints(s.out.begin(), s.out.begin() + n) == sum_of(0, ranks, me * n, n, salt);
      };
      c.call = in_place
                   ? std::function<Call(Case &)>(CALL(Reduce_scatter_block, reduce_scatter_block,
                                                      MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, comm))
                   : CALL(Reduce_scatter_block, reduce_scatter_block, in, out, n, MPI_INT, MPI_SUM,
                          comm);
      return c;
    });
    all.push_back([=] {
      int total = std::accumulate(counts, counts + ranks, 0),
          before = std::accumulate(counts, counts + me, 0);
      Case c = start(std::string("Reduce_scatter") + how, total, total);
      c.fill = [=](Case &s, int salt) {
        set(s.in, elements(me, 0, total, salt));
        set(s.out, in_place ? s.in : Ints(size(total), -1));
      };
      c.right = [=](const Case &s, int salt) {
        return Ints(s.out.begin(), s.out.begin() + mine) == sum_of(0, ranks, before, mine, salt);
      };
      c.call = in_place
                   ? std::function<Call(Case &)>(CALL(Reduce_scatter, reduce_scatter, MPI_IN_PLACE,
                                                      out, counts, MPI_INT, MPI_SUM, comm))
                   : CALL(Reduce_scatter, reduce_scatter, in, out, counts, MPI_INT, MPI_SUM, comm);
      return c;
    });
  }
  all.push_back([=] {
    Case c = start("Bcast", 0, n);
    c.fill = [=](Case &s, int salt) {
      set(s.out, me == root ? elements(root, 0, n, salt) : Ints(size(n), -1));
    };
    c.right = [=](const Case &s, int salt) { return s.out == elements(root, 0, n, salt); };
    c.call = CALL(Bcast, bcast, out, n, MPI_INT, root, comm);
    return c;
  });
  all.push_back([=] {
    Case c = start("Gather", n, n * ranks);
    c.right = [=](const Case &s, int salt) { return me != root || s.out == all_of(n, salt); };
    c.call = CALL(Gather, gather, in, n, MPI_INT, out, n, MPI_INT, root, comm);
    return c;
  });
  all.push_back([=] {
    Case c = start("Gatherv", mine, row_all);
    c.right = [=](const Case &s, int salt) {
      return me != root ||
             row_right(s.out, rows(ranks, n), [=](int r, int i) { return element(r, i, salt); });
    };
    const int *seen = me == root ? counts : nullptr, *seen_places = me == root ? places : nullptr;
    c.call = CALL(Gatherv, gatherv, in, mine, MPI_INT, out, seen, seen_places, MPI_INT, root, comm);
    return c;
  });
  all.push_back([=] {
    Case c = start("Scatter", n * ranks, n);
    c.right = [=](const Case &s, int salt) { return s.out == elements(root, me * n, n, salt); };
    c.call = CALL(Scatter, scatter, in, n, MPI_INT, out, n, MPI_INT, root, comm);
    return c;
  });
  all.push_back([=] {
    Case c = start("Scatterv", row_all, mine);
    c.right = [=](const Case &s, int salt) {
      return s.out == elements(root, rows(ranks, n).places[size(me)], mine, salt);
    };
    const int *seen = me == root ? counts : nullptr, *seen_places = me == root ? places : nullptr;
    c.call =
        CALL(Scatterv, scatterv, in, seen, seen_places, MPI_INT, out, mine, MPI_INT, root, comm);
    return c;
  });
  all.push_back([=] {
    Case c = start("Neighbor_allgather", n, 2 * n);
    c.right = [=](const Case &s, int salt) { return neighbors_right(s, n, salt, 0); };
    c.call = CALL(Neighbor_allgather, neighbor_allgather, in, n, MPI_INT, out, n, MPI_INT, ring);
    return c;
  });
  all.push_back([=] {
    Case c = start("Neighbor_alltoall", 2 * n, 2 * n);
    c.right = [=](const Case &s, int salt) { return neighbors_right(s, n, salt, n); };
    c.call = CALL(Neighbor_alltoall, neighbor_alltoall, in, n, MPI_INT, out, n, MPI_INT, ring);
    return c;
  });
  kept.push_back({{n, n}, {0, n}, 2 * n});
  const int *two = kept.back().counts.data(), *two_places = kept.back().places.data();
  all.push_back([=] {
    Case c = start("Neighbor_allgatherv", n, 2 * n);
    c.right = [=](const Case &s, int salt) { return neighbors_right(s, n, salt, 0); };
    c.call = CALL(Neighbor_allgatherv, neighbor_allgatherv, in, n, MPI_INT, out, two, two_places,
                  MPI_INT, ring);
    return c;
  });
  all.push_back([=] {
    Case c = start("Neighbor_alltoallv", 2 * n, 2 * n);
    c.right = [=](const Case &s, int salt) { return neighbors_right(s, n, salt, n); };
    c.call = CALL(Neighbor_alltoallv, neighbor_alltoallv, in, two, two_places, MPI_INT, out, two,
                  two_places, MPI_INT, ring);
    return c;
  });
  static std::vector<std::vector<MPI_Aint>> kept_bytes;
  kept_bytes.reserve(1000);
  kept_bytes.push_back({0, n * static_cast<MPI_Aint>(sizeof(int))});
  const MPI_Aint *two_bytes = kept_bytes.back().data();
  static MPI_Datatype pair[] = {MPI_INT, MPI_INT};
  all.push_back([=] {
    Case c = start("Neighbor_alltoallw", 2 * n, 2 * n);
    c.right = [=](const Case &s, int salt) { return neighbors_right(s, n, salt, n); };
    c.call = CALL(Neighbor_alltoallw, neighbor_alltoallw, in, two, two_bytes, pair, out, two,
                  two_bytes, pair, ring);
    return c;
  });
  all.push_back([=] {
    Case c = start("Barrier", 0, 0);
    c.right = [](const Case &, int) { return true; };
    c.call = CALL(Barrier, barrier, comm);
    return c;
  });
  return all;
}

}  // namespace

// forms [nonblocking-first] [without NAME]...: what the MPI below cannot do is left out by name,
// where it is the MPI's.
int main(int argc, char **argv) {
  begin_program(&argc, &argv);
  comm = MPI_COMM_WORLD;
  int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  bool reversed = argc > 1 && std::string(argv[1]) == "nonblocking-first";
  std::vector<Form> forms = {blocking, nonblocking, persistent};
  if (reversed) forms = {nonblocking, blocking, persistent};
  for (int n : {0, 1, 7, 1000, 40000})
    for (const auto &make : cases(n))
      for (Form form : forms) run(make, form, n);
  MPI_Comm_free(&ring);
  return end_program("forms");
}
