#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench.py - writes what nbc-bench --json would have: figures of a machine that costs a + b * bytes.

RANKS and NODES say how many; a line for each call goes to bench.log. BROKEN: a collective that fails."""

import json
import os
import sys

US = {  # us, and us for each byte
    "allgather": {"allgather.bruck": (2, 0.01), "allgather.ring": (10, 0.002), "allgather.linear": (3, 0.01)},
    "allreduce": {"allreduce.recursive_doubling": (4, 0.003), "allreduce.rabenseifner": (12, 0.001),
                  "allreduce.circulant": (8, 0.0015)},
    "barrier": {"barrier.dissemination": (3, 0)},
    "reduce_scatter": {"reduce_scatter.pairwise": (9, 0.001), "reduce_scatter.circulant": (4, 0.002)},
    "alltoall": {"alltoall.bruck": (5, 0.1), "alltoall.linear": (8, 0.01)},
}

said = {a: b for a, b in zip(sys.argv, sys.argv[1:]) if a.startswith("--")}
name, size = said["--collective"], int(said["--sizes"])
ranks, nodes = int(os.environ["RANKS"]), int(os.environ.get("NODES", "1"))
with open("bench.log", "a", encoding="utf-8") as log:
    log.write(f"{ranks} {name} {size}{' thread' if '--thread' in sys.argv else ''}\n")
if os.environ.get("BROKEN") == name:
    sys.exit("nbc-bench: error: a result is wrong")
results = [{"collective": name, "algorithm": "MPI_I" + name, "target": None, "latency": {"median_us": 1}}]
# Of stores all is left to do beside a computation, of DMA what it costs to start it.
ways = {("mpi", None): (0, 2), ("shm", None): (0, 1)}
if said["--target"] == "sci":
    ways = {("sci", way): (40, 1.5) if way == "dma" else (0, 1) for way in said["--transfer"].split(",")}
for (target, way), (start, factor) in ways.items():
    for algorithm, (a, b) in US[name].items():
        us = start + (a + b * size * ranks / 4) * factor
        results.append({"collective": name, "algorithm": algorithm, "target": target, "transfer": way,
                        "latency": {"median_us": us}})
        if "--overlap" in said:
            results[-1]["overlap"] = [{"tests": int(said["--overlap"]), "computing": {"median_us": us},
                                       "total": {"median_us": us + (start if way == "dma" else us)}}]
if name == "barrier":
    size = 0
for r in results:
    r["bytes"] = size
with open(said["--json"], "w", encoding="utf-8") as file:
    json.dump({"mpi": {"library": "Some MPI 1.0"}, "results": results,
               "machine": {"ranks": ranks, "ranks_of_node": -(-ranks // nodes)}}, file)
