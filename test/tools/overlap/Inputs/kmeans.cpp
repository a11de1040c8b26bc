// Clusters, as a C++ program has them: a communicator that is freed by its destructor, vectors, members of a class.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <vector>

class Communicator {
 public:
  Communicator() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~Communicator() { MPI_Comm_free(&comm_); }
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;
  MPI_Comm get() const { return comm_; }
  int rank() const {
    int r;
    MPI_Comm_rank(comm_, &r);
    return r;
  }

 private:
  MPI_Comm comm_;
};

class Clusters {
 public:
  Clusters(int k, int points, int rank)
      : k_(k), points_(points), nearest_(points), centres_(k), sums_(k), allSums_(k), counts_(k), allCounts_(k) {
    for (int i = 0; i < points; ++i) points_[i] = std::fmod(i * 37.5 + rank * 11, 101.0);
    for (int c = 0; c < k; ++c) centres_[c] = 100.0 * c / k;
  }

  void assign() {
    for (int c = 0; c < k_; ++c) sums_[c] = counts_[c] = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      int best = 0;
      for (int c = 1; c < k_; ++c)
        if (std::fabs(points_[i] - centres_[c]) < std::fabs(points_[i] - centres_[best])) best = c;
      nearest_[i] = best;
      sums_[best] += points_[i];
      ++counts_[best];
    }
  }

  void update() {
    MPI_Allreduce(sums_.data(), allSums_.data(), k_, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(counts_.data(), allCounts_.data(), k_, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    // How far the points are from their centres, which are still the old ones.
    spread_ = 0;
    std::vector<double> squares(points_.size());
    for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = (points_[i] - centres_[nearest_[i]]) * (points_[i] - centres_[nearest_[i]]);
    for (double s : squares) spread_ += s;
    for (int c = 0; c < k_; ++c)
      if (allCounts_[c] > 0) centres_[c] = allSums_[c] / allCounts_[c];
  }

  double spread() const { return spread_; }
  double centre(int c) const { return centres_[c]; }

 private:
  int k_;
  std::vector<double> points_;
  std::vector<int> nearest_;
  std::vector<double> centres_, sums_, allSums_;
  std::vector<int> counts_, allCounts_;
  double spread_ = 0;
};

static double run(int steps) {
  Communicator world;
  Clusters clusters(4, 300, world.rank());
  for (int i = 0; i < steps; ++i) {
    clusters.assign();
    clusters.update();
  }
  double mine = clusters.spread(), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (world.rank() == 0) std::printf("centres %.6f %.6f, spread %.6f\n", clusters.centre(0), clusters.centre(3), all);
  return all;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  run(8);
  MPI_Finalize();
}
