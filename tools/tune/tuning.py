# SPDX-License-Identifier: BSD-3-Clause
"""tuning.py - from what was measured to rows of a table.

A point is what one run of nbc-bench found: for a number of ranks and nodes, a collective and a size,
the median latency of each algorithm and target ("bruck@shm"; "ring@sci/dma", of a target that has two
ways); and, where overlap was measured, what of it is left beside a computation. The first chooses for
calls that block, the second for those that do not. Between two sizes, or numbers of ranks, the border is
their geometric mean; beyond the last the last one holds.
"""

import json
import math
import os

VERSION = 1
# Those with v- and w-variants: what was measured is for blocks equally long.
VARIANTS = ("allgather", "alltoall", "gather", "scatter")


class Wrong(Exception):
    """What the user is told, without a trace."""


def write(path, text):
    """All of it, or what was there before: also where this is interrupted."""
    unfinished = f"{path}.{os.getpid()}"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)


class State:
    """Finished points, in a file that is whole at any time."""

    def __init__(self, path, settings):
        """`settings` change what is measured; None: whatever they were."""
        self.path = path
        self.data = {"version": VERSION, "settings": settings, "points": {}}
        if not os.path.exists(path):
            return
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
            known = data["version"] == VERSION and isinstance(data["points"], dict)
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise Wrong(f"{path} is no state file of this nbc-tune; name another with --state")
        if settings and data["settings"] != settings:
            raise Wrong(f"{path} was measured with {data['settings']}, not {settings}; name another with --state")
        self.data = data

    @staticmethod
    def key(launch, collective, size):
        return f"{launch} | {collective} | {size}"

    def has(self, launch, collective, size):
        return self.key(launch, collective, size) in self.data["points"]

    def add(self, launch, bench):
        """What nbc-bench --json wrote: a point for each collective and size."""
        machine = bench["machine"]
        points = {}
        for r in bench["results"]:
            if r["target"] is None:  # the MPI's own
                continue
            point = points.setdefault(self.key(launch, r["collective"], r["bytes"]), {
                "mpi": bench["mpi"]["library"], "ranks": machine["ranks"],
                "nodes": -(-machine["ranks"] // machine["ranks_of_node"]),
                "collective": r["collective"], "bytes": r["bytes"], "us": {}, "left_us": {}})
            name = f"{r['algorithm']}@{r['target']}" + (f"/{r['transfer']}" if r.get("transfer") else "")
            point["us"][name] = r["latency"]["median_us"]
            if r.get("overlap"):
                point["left_us"][name] = min(o["total"]["median_us"] - o["computing"]["median_us"]
                                             for o in r["overlap"])
        if not points:
            raise ValueError("nbc-bench measured no algorithm")
        self.data["points"].update(points)
        write(self.path, json.dumps(self.data, indent=1) + "\n")

    def points(self):
        return list(self.data["points"].values())


def group(points, what="us"):
    """{(collective, nodes): {ranks: {bytes: {"algorithm@target": us}}}}; of two like points the later."""
    result = {}
    for p in points:
        if p.get(what):
            by_ranks = result.setdefault((p["collective"], p["nodes"]), {})
            by_ranks.setdefault(p["ranks"], {})[p["bytes"]] = p[what]
    return result


def winners(by_size, margin, among=None):
    """[(bytes, name)] by ascending size: the best of each; the last one's stays where too little is gained."""
    result = []
    for size in sorted(by_size):
        times = {n: t for n, t in by_size[size].items() if among is None or n.split("@")[0] in among}
        if not times:
            continue
        best = min(times, key=lambda n: (times[n], n))
        before = result[-1][1] if result else None
        if before in times and times[before] <= times[best] * (1 + margin):
            best = before
        result.append((size, best))
    return result


def best(points, margin, among=None, what="us"):
    """As group(), with winners() where sizes were."""
    result = {}
    for key, by_ranks in group(points, what).items():
        for ranks, by_size in by_ranks.items():
            won = winners(by_size, margin, among and among.get(key[0], {}))
            if won:
                result.setdefault(key, {})[ranks] = won
    return result


def border(a, b):
    """The last number that is nearer to a, as a factor, than to b."""
    return max(a, math.isqrt(a * b)) if a * b else a


def spans(won):
    """[(last byte, name)] of winners; None: without end."""
    result = []
    for (size, name), following in zip(won, won[1:] + [None]):
        last = border(size, following[0]) if following else None
        if result and result[-1][1] == name:
            result[-1] = (last, name)
        else:
            result.append((last, name))
    return result


def span_text(first, last):
    return "" if first == 0 and last is None else f"{first or ''}..{'' if last is None else last}"


def rows_of(collective, nodes, by_ranks, blocking):
    """Rows of what is best; `blocking` None: for all calls."""
    rows = []
    first_ranks = 0
    all_ranks = sorted(by_ranks)
    for ranks, following in zip(all_ranks, all_ranks[1:] + [None]):
        last_ranks = border(ranks, following) if following else None
        first = 0
        for last, name in spans(by_ranks[ranks]):
            algorithm, target = name.split("@")
            row = {"collective": collective}
            for what, text in (("ranks", span_text(first_ranks, last_ranks)), ("bytes", span_text(first, last))):
                if text:
                    row[what] = text
            row["nodes"] = nodes if nodes == 1 else f"{nodes}.."
            if collective in VARIANTS:
                row["each"] = False
            if blocking is not None:
                row["blocking"] = blocking
            row["target"], _, transfer = target.partition("/")
            if transfer:
                row["transfer"] = transfer
            row["algorithm"] = algorithm.split(".", 1)[1]
            rows.append(row)
            first = None if last is None else last + 1
        first_ranks = None if last_ranks is None else last_ranks + 1
    return rows


def table(state, waited, left, default):
    """The table's text: what is best for calls that block, and for those that do not; then the default's rows."""
    rows = []
    for key in sorted(waited):
        if waited[key] == left.get(key, waited[key]):
            rows += rows_of(*key, waited[key], None)
        else:
            rows += rows_of(*key, waited[key], True) + rows_of(*key, left[key], False)
    # More nodes first: they are open upwards.
    rows.sort(key=lambda r: r["collective"])
    rows.sort(key=lambda r: -int(str(r["nodes"]).rstrip(".")))
    points = state.points()
    mpis = sorted({p["mpi"] for p in points})
    measured = sorted({(p["ranks"], p["nodes"]) for p in points})
    what = "the least median latency"
    if left:
        what += ", and of calls that do not block the least that is left beside a computation"
    about = [f"Measured by nbc-tune: {what}; " + "; ".join(mpis) + ".",
             "Ranks on nodes: " + ", ".join(f"{r} on {n}" for r, n in measured) + ". Behind these rows those of the "
             "installed table."]
    lines = [json.dumps(row) for row in rows + default["rows"]]
    return ("{\n  \"about\": [\n" + ",\n".join("    " + json.dumps(a) for a in about) + "\n  ],\n  \"rows\": [\n" +
            ",\n".join("    " + line for line in lines) + "\n  ]\n}\n")
