// SPDX-License-Identifier: BSD-3-Clause
// faults.cpp - what a plan over real queue pairs makes of peers that die or are late, and of a link
// that goes.
//
//   verbs-faults killed|late|blinks|gone|removed RANKS write|read|send|direct EAGER BYTES FILE
//
//   killed  rank 1 ends itself in front of its first doorbell, then in front of its second, ...,
//   until it
//           comes through all calls alive: so in each round. The others are told
//   late    each rank in turn comes late to a call; nobody has to send anything again for that
//   blinks  the link is down for a moment, several times. A card would try again; soft-RoCE has no
//   route then,
//           and fails what is sent: so either all comes right, or all are told
//   gone    the link goes down and stays so: all are told
//   removed the interface goes, and the adapter with it: all are told
//
// Ranks are processes, of the guest that has dummy0 and rxe0. FILE holds templates of allgather,
// allreduce or alltoall; blocks up to EAGER bytes are copied, calls are of BYTES. Whatever call is
// done without an error has the right bytes; after an error the plan does nothing more, and goes.
// Prints a line if all was right.

#include <net/if.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "nbc/template.h"
#include "nbc/verbs.h"
#include "test/runtime/files.h"

namespace {

enum { FLIGHTS = 2, TIMEOUT = 14 /* 67 ms */, RETRIES = 3, SECONDS = 60 };

struct Wish {
  std::string what;
  int ranks = 0;
  nbc_verbs_options device = {};
  nbc_plan_options plan = {};
  size_t elements = 0;
  std::string templates;
  int calls = FLIGHTS;
};

// --- a rank that dies in front of its n-th doorbell ---

nbc_verbs_ops mortal;
const nbc_verbs_ops *immortal;
int doorbells = -1;  // left to live; below 0: for ever

int die(nbc_verbs *device, void *qp, ibv_send_wr *first) {
  if (doorbells == 0) kill(getpid(), SIGKILL);
  --doorbells;
  return immortal->post_send(device, qp, first);
}

void makeMortal(nbc_device *device, int after) {
  auto *v = reinterpret_cast<nbc_verbs *>(device);
  immortal = v->ops;
  mortal = *immortal;
  mortal.post_send = die;
  v->ops = &mortal;
  doorbells = after;
}

// --- calls ---

uint64_t value(int from, int call, size_t i) {
  return uint64_t(from) * 1000003u + uint64_t(call) * 7919u + i * 31u + 1;
}

struct Call {
  nbc_request request = {};
  std::vector<uint64_t> in, out;
  int number;
};

const nbc_template *templateOf(const std::string &file, int rank) {
  for (size_t at = 0; at + sizeof(nbc_template) <= file.size();) {
    const auto *t = reinterpret_cast<const nbc_template *>(file.data() + at);
    if (int(t->rank) == rank) return t;
    if (t->bytes == 0) break;
    at += t->bytes;
  }
  return nullptr;
}

bool right(const Call &c, uint32_t kind, int rank, int ranks, size_t n) {
  for (size_t i = 0; i < c.out.size(); ++i) {
    uint64_t wanted = 0;
    if (kind == NBC_ALLGATHER) wanted = value(int(i / n), c.number, i % n);
    if (kind == NBC_ALLTOALL) wanted = value(int(i / n), c.number, size_t(rank) * n + i % n);
    for (int r = 0; r < ranks && kind == NBC_ALLREDUCE; ++r) wanted += value(r, c.number, i);
    if (c.out[i] == wanted) continue;
    std::fprintf(stderr, "rank %d: call %d: element %zu is %#jx and not %#jx\n", rank, c.number, i,
                 uintmax_t(c.out[i]), uintmax_t(wanted));
    return false;
  }
  return true;
}

int start(Call &c, nbc_plan *plan, const nbc_template &t, int number, size_t n) {
  const size_t row = n * t.ranks;
  c.number = number;
  c.in.resize(t.kind == NBC_ALLTOALL ? row : n);
  c.out.assign(t.kind == NBC_ALLREDUCE ? n : row, 0);
  for (size_t i = 0; i < c.in.size(); ++i) c.in[i] = value(int(t.rank), number, i);
  nbc_call call = {};
  call.in = c.in.data();
  call.out = c.out.data();
  call.count = n;
  call.type = NBC_U64;
  call.op = NBC_SUM;
  return nbc_start(plan, &call, &c.request);
}

/// All calls, some under way at once: the first error, or 1 where bytes were wrong.
int carryOut(const Wish &wish, nbc_plan *plan, const nbc_template &t) {
  for (int first = 0; first < wish.calls; first += FLIGHTS) {
    Call calls[FLIGHTS];
    int status = 0, started = 0;
    for (; started < FLIGHTS && status == 0; ++started) {
      const int number = first + started;
      if (wish.what == "late" && number % wish.ranks == int(t.rank)) usleep(300'000);
      status = start(calls[started], plan, t, number, wish.elements);
      if (status) break;
    }
    for (int i = 0; i < started; ++i) {
      const int how = nbc_wait(&calls[i].request);
      if (how == 0 && !right(calls[i], t.kind, int(t.rank), wish.ranks, wish.elements)) return 1;
      if (how && !status) status = how;
    }
    if (status) return status;
  }
  return 0;
}

/// 0 if what was expected came.
int beRank(const Wish &wish, Files files, int doorbellsLeft, bool mayFail) {
  alarm(SECONDS);  // it ends
  nbc_device *device = nullptr;
  nbc_comm *comm = nullptr;
  nbc_plan *plan = nullptr;
  const char *why = "";
  if (nbc_verbs_open(&wish.device, &device, &why)) {
    std::fprintf(stderr, "%s\n", why);
    return 1;
  }
  if (doorbellsLeft >= 0) makeMortal(device, doorbellsLeft);
  const nbc_bootstrap bootstrap = files.bootstrap();
  const nbc_template *t = templateOf(wish.templates, files.rank);
  if (!t || nbc_comm_create(&bootstrap, &device, 1, &comm)) return 1;
  if (nbc_plan_create(comm, t, t->bytes, &wish.plan, &plan) || nbc_plan_connect(plan)) return 1;
  Files::put(&files, "met", "", 0);
  const int status = carryOut(wish, plan, *t);
  bool wrong = status == 1;
  if (status < 0) {
    Call another;
    wrong |= !mayFail || status != NBC_ERROR_DEVICE;
    wrong |= start(another, plan, *t, 0, 1) != NBC_ERROR_DEVICE;
    if (wrong) std::fprintf(stderr, "rank %d: %s\n", files.rank, nbc_status_text(status));
  } else if (wish.what == "gone" || wish.what == "removed") {
    wrong = true;  // calls without end
  }
  // Others may still be within calls that have ended here.
  Files::put(&files, "done", "", 0);
  size_t bytes;
  for (int r = 0; r < wish.ranks; ++r) Files::get(&files, r, "done", nullptr, 0, &bytes);
  wrong |= nbc_plan_free(plan) || nbc_comm_free(comm);
  return wrong;
}

// --- the link ---

void link(bool up) {
  ifreq request = {};
  std::strcpy(request.ifr_name, "dummy0");
  const int s = socket(AF_INET, SOCK_DGRAM, 0);
  bool done = s >= 0 && ioctl(s, SIOCGIFFLAGS, &request) == 0;
  request.ifr_flags = short(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
  done = done && ioctl(s, SIOCSIFFLAGS, &request) == 0;
  if (!done) std::perror("dummy0");
  close(s);
}

void carryOutHere(const char *command) {
  if (std::system(command)) std::fprintf(stderr, "failed: %s\n", command);
}

/// The adapter goes when nobody has it open any more. There are others who count on both.
void bringAdapterBack() {
  while (std::filesystem::exists("/sys/class/infiniband/rxe0")) usleep(10'000);
  carryOutHere(
      "ip link add dummy0 type dummy && ip link set dummy0 mtu 4500 && "
      "ip addr add 10.0.0.1/24 dev dummy0 && ip link set dummy0 up && "
      "rdma link add rxe0 type rxe netdev dummy0");
}

/// How often somebody had to send again, since there was no receive.
long missingReceives() {
  long sum = 0, one = 0;
  for (const char *name : {"send_rnr_err", "rcvd_rnr_err"}) {
    std::ifstream file(std::string("/sys/class/infiniband/rxe0/ports/1/hw_counters/") + name);
    if (!(file >> one)) return -1;
    sum += one;
  }
  return sum;
}

// --- a world of ranks ---

struct World {
  std::filesystem::path folder;
  std::vector<pid_t> pids;

  World() {
    char name[] = "/dev/shm/verbs-faults-XXXXXX";
    if (!mkdtemp(name)) exit(2);
    folder = name;
  }
  ~World() { std::filesystem::remove_all(folder); }
  bool met(int ranks) const {  // all plans are connected
    for (int r = 0; r < ranks; ++r)
      if (!std::filesystem::exists(Files{folder, r, ranks}.file(r, "met"))) return false;
    return true;
  }
};

void blink(const World &w, int ranks, int &times) {
  if (!w.met(ranks)) return;
  link(false);
  usleep(50'000);
  link(true);
  ++times;
}

/// Whether rank 1 has died, and nothing else has gone wrong.
struct Outcome {
  bool killed = false, wrong = false;
  int blinks = 0;
};

Outcome run(const Wish &wish, int doorbellsLeft) {
  World w;
  Outcome outcome;
  for (int r = 0; r < wish.ranks; ++r) {
    w.pids.push_back(fork());
    if (w.pids.back() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const bool mayFail = doorbellsLeft >= 0 || wish.what != "late";
    const int status =
        beRank(wish, {w.folder, r, wish.ranks}, r == 1 ? doorbellsLeft : -1, mayFail);
    std::fflush(nullptr);
    _exit(status);
  }
  for (int left = wish.ranks; left > 0;) {
    int how = 0;
    const pid_t pid = waitpid(-1, &how, WNOHANG);
    if (pid == 0) {
      if (wish.what == "blinks") blink(w, wish.ranks, outcome.blinks);
      if (outcome.blinks == 0 && w.met(wish.ranks)) {
        if (wish.what == "gone") link(false), outcome.blinks = 1;
        if (wish.what == "removed") carryOutHere("ip link delete dummy0"), outcome.blinks = 1;
      }
      usleep(200'000);
      continue;
    }
    --left;
    const bool killed = WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL;
    if (killed && doorbellsLeft >= 0 && pid == w.pids[1]) {
      outcome.killed = true;
      Files dead{w.folder, 1, wish.ranks};  // the others wait for it before they free their plans
      Files::put(&dead, "done", "", 0);
    } else if (how) {
      outcome.wrong = true;
      if (WIFSIGNALED(how)) std::fprintf(stderr, "a rank has ended by signal %d\n", WTERMSIG(how));
    }
  }
  if (wish.what == "gone") link(true);
  if (wish.what == "removed" && outcome.blinks) bringAdapterBack();
  return outcome;
}

bool read(char **argv, Wish &wish) {
  wish.what = argv[1];
  wish.ranks = std::atoi(argv[2]);
  wish.device.rendezvous = !std::strcmp(argv[3], "read")     ? NBC_VERBS_READ
                           : !std::strcmp(argv[3], "send")   ? NBC_VERBS_SEND
                           : !std::strcmp(argv[3], "direct") ? NBC_VERBS_DIRECT
                                                             : NBC_VERBS_WRITE;
  wish.device.timeout = TIMEOUT;
  wish.device.retry_count = RETRIES;
  wish.plan.eager_bytes = size_t(std::atoi(argv[4]));
  wish.elements = size_t(std::atoi(argv[5])) / sizeof(uint64_t);
  std::ifstream file(argv[6], std::ios::binary);
  wish.templates.assign(std::istreambuf_iterator<char>(file), {});
  if (wish.what == "late") wish.calls = 2 * wish.ranks;
  if (wish.what == "blinks") wish.calls = 400;
  if (wish.what == "gone" || wish.what == "removed") wish.calls = 1'000'000;
  return wish.ranks > 1 && wish.elements > 0 && templateOf(wish.templates, wish.ranks - 1);
}

}  // namespace

int main(int argc, char **argv) {
  Wish wish;
  if (argc != 7 || !read(argv, wish)) {
    std::fprintf(stderr, "verbs-faults: see the head of its source\n");
    return 2;
  }
  const long before = missingReceives();
  bool wrong = false;
  int times = 0;
  if (wish.what == "killed") {
    Outcome o;
    for (o.killed = true; o.killed && !wrong; ++times) wrong |= (o = run(wish, times)).wrong;
    wrong |= times < 2;
  } else {
    const Outcome o = run(wish, -1);
    times = o.blinks;
    wrong = o.wrong || (times == 0 && wish.what != "late");
  }
  // Who counts is gone with the adapter. What is sent into its place may come too early.
  const long missing = missingReceives() - (wish.what == "removed" ? 0 : before);
  const bool sends = wish.device.rendezvous >= NBC_VERBS_SEND;
  if (before < 0 || (missing != 0 && !sends)) {
    std::fprintf(stderr, "%ld messages found no receive\n", missing);
    wrong = true;
  }
  if (!wrong)
    std::printf("%s, %s %s: %d times, all right\n", wish.what.c_str(), argv[3], argv[6], times);
  return wrong;
}
