// SPDX-License-Identifier: BSD-3-Clause
// noise.c - takes a core away for short whiles, as an operating system does.
//
//   noise BURST_US RATE_HZ SECONDS [CORE...]
//
// One thread for each core (that it may run on, unless some are named) computes for BURST_US
// microseconds, RATE_HZ times a second; when, within each period, is random, so cores are not
// interrupted together. At the end it says what was really taken. The experiments on noise with
// collectives have bursts of 50 to 200 us at 20 Hz to 1 kHz.

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NANOSECONDS = 1000000000 };

struct burner {
  pthread_t thread;
  int core;
  int64_t burst, period, end;  // ns
  int64_t bursts, taken;       // what was done
};

static int64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * (int64_t)NANOSECONDS + t.tv_nsec;
}

static void sleep_until(int64_t at) {
  struct timespec t = {at / NANOSECONDS, at % NANOSECONDS};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
  }
}

/// Time of the thread, not of the clock: what others took from it was not taken from them.
static void *burn(void *argument) {
  struct burner *b = argument;
  unsigned seed = (unsigned)b->core + 1;
  for (int64_t period = now(CLOCK_MONOTONIC); period < b->end; period += b->period) {
    int64_t idle = b->period - b->burst;
    sleep_until(period + (idle ? (int64_t)((double)rand_r(&seed) / RAND_MAX * (double)idle) : 0));
    int64_t begin = now(CLOCK_THREAD_CPUTIME_ID), used;
    while ((used = now(CLOCK_THREAD_CPUTIME_ID) - begin) < b->burst &&
           now(CLOCK_MONOTONIC) < b->end) {
    }
    ++b->bursts;
    b->taken += used;
  }
  return NULL;
}

static double number(const char *text, double least, double most, const char *what) {
  char *end;
  errno = 0;
  double value = strtod(text, &end);
  if (end != text && !*end && !errno && value >= least && value <= most) return value;
  fprintf(stderr, "noise: %s: %s is wanted, from %g to %g\n", text, what, least, most);
  exit(2);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: noise BURST_US RATE_HZ SECONDS [CORE...]\n");
    return 2;
  }
  double burst = number(argv[1], 1, 1e6, "a number of microseconds");
  double rate = number(argv[2], 0.1, 1e5, "a number of bursts in a second");
  double seconds = number(argv[3], 0, 1e6, "a number of seconds");
  if (burst * rate > 1e6) {
    fprintf(stderr, "noise: %g bursts of %g us do not go into a second\n", rate, burst);
    return 2;
  }

  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) {
    perror("noise: sched_getaffinity");
    return 1;
  }
  if (argc > 4) {
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    for (int i = 4; i < argc; ++i) {
      int core = (int)number(argv[i], 0, CPU_SETSIZE - 1, "a core");
      if (!CPU_ISSET(core, &allowed)) {
        fprintf(stderr, "noise: core %d is not one that this process may run on\n", core);
        return 2;
      }
      CPU_SET(core, &chosen);
    }
    allowed = chosen;
  }

  struct burner *burners = calloc((size_t)CPU_COUNT(&allowed), sizeof *burners);
  if (!burners) {
    perror("noise");
    return 1;
  }
  int count = 0;
  int64_t begin = now(CLOCK_MONOTONIC);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    struct burner *b = &burners[count++];
    *b = (struct burner){.core = core,
                         .burst = (int64_t)(burst * 1e3),
                         .period = (int64_t)(NANOSECONDS / rate),
                         .end = begin + (int64_t)(seconds * NANOSECONDS)};
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
    int error = pthread_create(&b->thread, &attributes, burn, b);
    pthread_attr_destroy(&attributes);
    if (error) {
      fprintf(stderr, "noise: a thread for core %d: %s\n", core, strerror(error));
      return 1;
    }
  }
  for (int i = 0; i < count; ++i) {
    pthread_join(burners[i].thread, NULL);
    double elapsed = (double)(now(CLOCK_MONOTONIC) - begin);
    printf("core %d: %lld bursts, %.2f %% of its time\n", burners[i].core,
           (long long)burners[i].bursts,
           elapsed > 0 ? 100 * (double)burners[i].taken / elapsed : 0);
  }
  free(burners);
  return 0;
}
