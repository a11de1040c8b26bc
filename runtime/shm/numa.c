// SPDX-License-Identifier: BSD-3-Clause
// numa.c - memory on the NUMA node of the thread that will read it.
//
// Asked of hwloc before the memory is reserved, so that reserving puts it there. Where there is one
// node, which costs nothing to see, the topology (some ten milliseconds) is not loaded; else once
// for all devices that there are.

#include <hwloc.h>
#include <pthread.h>
#include <unistd.h>

#include "runtime/shm/shm.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hwloc_topology_t loaded;  // under the lock, as is
static unsigned users;           //   how many devices look at it

static hwloc_topology_t load(void) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology)) return NULL;
  if (hwloc_topology_load(topology) == 0) return topology;
  hwloc_topology_destroy(topology);
  return NULL;
}

static bool several;
static pthread_once_t counted = PTHREAD_ONCE_INIT;

static void count_nodes(void) {
  several = access("/sys/devices/system/node/node1", F_OK) == 0;
}

void *numa_open(void) {
  pthread_once(&counted, count_nodes);
  if (!several) return NULL;
  pthread_mutex_lock(&lock);
  if (!loaded) loaded = load();
  if (loaded) ++users;
  hwloc_topology_t topology = loaded;
  pthread_mutex_unlock(&lock);
  return topology;
}

// Best effort: memory elsewhere is slower, and right.
void numa_near(void *topology, void *memory, size_t bytes) {
  if (!topology) return;
  hwloc_bitmap_t here = hwloc_bitmap_alloc();
  if (here &&
      hwloc_get_last_cpu_location((hwloc_topology_t)topology, here, HWLOC_CPUBIND_THREAD) == 0)
    hwloc_set_area_membind((hwloc_topology_t)topology, memory, bytes, here, HWLOC_MEMBIND_BIND, 0);
  hwloc_bitmap_free(here);
}

void numa_close(void *topology) {
  if (!topology) return;
  pthread_mutex_lock(&lock);
  if (--users == 0) {
    hwloc_topology_destroy(loaded);
    loaded = NULL;
  }
  pthread_mutex_unlock(&lock);
}
