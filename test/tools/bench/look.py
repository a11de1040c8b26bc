#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""look.py JSON - what nbc-bench wrote, in a few lines; no time is in them.

Asserts what has to hold of any figures: quartiles ascend, start is a part of latency, overlap is
what its formula makes of the times beside it, samples are as many as calls.
"""

import json
import sys


def ascending(spread):
    assert 0 <= spread["least_us"] <= spread["low_us"] <= spread["median_us"] <= spread["high_us"], spread


def look(result):
    name = f"{result['collective']} {result['algorithm']} {result['target']} {result['bytes']}"
    ascending(result["start"])
    ascending(result["latency"])
    assert result["start"]["median_us"] <= result["latency"]["median_us"], name
    assert result["calls"] > 0 and result["cpu_us"] >= 0, name
    for times in result.get("samples", {}).values():
        assert len(times) == result["calls"], name
    for o in result["overlap"]:
        ascending(o["total"])
        ascending(o["computing"])
        assert o["calls"] > 0 and o["computing"]["median_us"] > 0, name
        formula = 1 - (o["total"]["median_us"] - o["computing"]["median_us"]) / o["latency_us"]
        assert abs(o["overlap"] - formula) < 1e-6, name
    tests = [o["tests"] for o in result["overlap"]]
    kind = "" if result["nonblocking"] else " blocking"
    print(f"{name}{kind}: correct {result['correct']}, tests {tests}, samples {'samples' in result}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        written = json.load(file)
    machine = written["machine"]
    assert 1 <= machine["ranks_of_node"] <= machine["ranks"] and machine["cores_of_node"] >= 1
    print(f"{written['program']} on {written['mpi']['library']}, {machine['ranks']} ranks, "
          f"host {'host' in machine}, computation {written['computation'] is not None}")
    for left in written["left_out"]:
        print(f"left out: {left['algorithm']} {left['target']}: {left['why'].splitlines()[0]}")
    for result in written["results"]:
        look(result)


if __name__ == "__main__":
    main()
