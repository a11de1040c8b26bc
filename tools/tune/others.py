# SPDX-License-Identifier: BSD-3-Clause
"""others.py - the same measurement for MPICH and Open MPI, as far as they have the same algorithms.

Their implementations are others, so this says which algorithm suits the network, not how fast theirs
is; what they have under another name is named here, what they lack is left out. Both choose by the
number of ranks alone, so the points with the most nodes are taken where there are several.
"""

import json

import tuning

# Of Open MPI's component tuned: the collective's number, and its algorithms'. Sizes are of all blocks
# together where `blocks` says so.
OPENMPI = {
    "allgather": (0, True, {"linear": 1, "bruck": 2, "standard_exchange": 3, "ring": 4, "neighbor_exchange": 5}),
    "allreduce": (2, False, {"recursive_doubling": 3, "ring": 4, "rabenseifner": 6}),
    "alltoall": (3, True, {"linear": 1, "pairwise": 2, "bruck": 3}),
    "barrier": (6, False, {"recursive_doubling": 3, "dissemination": 4, "tree": 6}),
    "bcast": (7, False, {"linear": 1, "split_binary": 4, "binomial": 6, "knomial": 7, "scatter_allgather": 9}),
    "exscan": (8, False, {"linear": 1, "recursive_doubling": 2}),
    "gather": (9, True, {"linear": 1, "binomial": 2}),
    "reduce": (11, False, {"linear": 1, "binomial": 5, "binary": 6, "rabenseifner": 7}),
    "reduce_scatter": (12, True, {"recursive_halving": 2, "ring": 3}),
    "reduce_scatter_block": (13, True, {"recursive_halving": 3}),
    "scan": (14, False, {"linear": 1, "recursive_doubling": 2}),
    "scatter": (15, False, {"linear": 1, "binomial": 2}),
}

# Of MPICH: its names. Those that need something have another, in MPICH_NEEDS, for the rest.
MPICH = {
    "allgather": {"bruck": "brucks", "standard_exchange": "recursive_doubling", "ring": "ring"},
    "allreduce": {"recursive_doubling": "recursive_doubling", "rabenseifner": "reduce_scatter_allgather"},
    "alltoall": {"bruck": "brucks", "linear": "scattered", "pairwise": "pairwise"},
    "bcast": {"binomial": "binomial", "scatter_allgather": "scatter_ring_allgather"},
    "reduce": {"binomial": "binomial", "rabenseifner": "reduce_scatter_gather"},
    "reduce_scatter": {"recursive_halving": "recursive_halving", "pairwise": "pairwise"},
    "reduce_scatter_block": {"recursive_halving": "recursive_halving", "pairwise": "pairwise"},
}
# MPICH asserts that it knows the size by the name that stands there: of a block or vector for these, of all blocks together
# for the rest.
MPICH_AVERAGE = ("allreduce", "alltoall", "bcast", "reduce")
MPICH_NEEDS = {
    ("allgather", "recursive_doubling"): ("pow2", "brucks"),
    ("allreduce", "reduce_scatter_allgather"): ("count", "recursive_doubling"),
    ("reduce", "reduce_scatter_gather"): ("count", "binomial"),
}


def by_ranks(points, margin, names):
    """{collective: {ranks: spans}} among the algorithms that are named."""
    among = {c: {f"{c}.{a}" for a in known} for c, known in names.items()}
    theirs = []
    for p in points:
        if p["collective"] in names:
            least = {}
            for name, us in p["us"].items():
                algorithm = name.split("@")[0]  # targets are ours
                least[algorithm] = min(us, least.get(algorithm, us))
            theirs.append(dict(p, us=least))
    best = tuning.best(theirs, margin, among)
    result = {}
    for (collective, _), ranks in sorted(best.items()):
        for number, won in ranks.items():
            result.setdefault(collective, {})[number] = tuning.spans(won)
    return result


def plain(name):
    """allgather.bruck -> bruck"""
    return name.split(".", 1)[1]


def openmpi(points, margin):
    """The rules file of Open MPI 4 and 5: first what is there, then for each from which size on."""
    found = by_ranks(points, margin, {c: entry[2] for c, entry in OPENMPI.items()})
    lines = [f"{len(found)} # collectives"]
    for collective in sorted(found, key=lambda c: OPENMPI[c][0]):
        number, blocks, known = OPENMPI[collective]
        lines += [f"{number} # {collective}", f"{len(found[collective])} # numbers of ranks"]
        for ranks in sorted(found[collective]):
            rules = found[collective][ranks]
            lines += [f"{ranks} # ranks", f"{len(rules)} # sizes"]
            first = 0
            for last, name in rules:
                lines.append(f"{first * (ranks if blocks else 1)} {known[plain(name)]} 0 0 # {plain(name)}")
                first = None if last is None else last + 1
    return "\n".join(lines) + "\n"


def mpich_algorithm(collective, theirs):
    def call(name):
        return {f"algorithm=MPIR_{collective.capitalize()}_intra_{name}": {}}
    what, instead = MPICH_NEEDS.get((collective, theirs), (None, None))
    if what == "pow2":
        return {"comm_size=pow2": call(theirs), "comm_size=any": call(instead)}
    if what == "count":
        return {"is_op_built_in=yes": {"count<pow2": call(instead), "count=any": call(theirs)},
                "is_op_built_in=no": call(instead)}
    return call(theirs)


def mpich(points, margin, base):
    """MPICH's JSON, with what was measured in the place of `base` has for groups of one communicator."""
    result = dict(base)
    for collective, ranks in by_ranks(points, margin, MPICH).items():
        sizes_of = {}
        numbers = sorted(ranks)
        for number, following in zip(numbers, numbers[1:] + [None]):
            sizes = {}
            for last, name in ranks[number]:
                average = collective in MPICH_AVERAGE
                key = "avg_msg_size" if average else "total_msg_size"
                most = None if last is None else min(last if average else (last + 1) * number - 1, 2**31 - 1)
                size = f"{key}=any" if most is None else f"{key}<={most}"
                sizes[size] = mpich_algorithm(collective, MPICH[collective][plain(name)])
            last = tuning.border(number, following) if following else None
            sizes_of["comm_size=any" if last is None else f"comm_size<={last}"] = sizes
        key = f"collective={collective}"
        if key not in base or "comm_type=intra" not in base[key]:
            raise tuning.Wrong(f"--mpich-base has no {key} with comm_type=intra")
        own = base[key]["comm_type=intra"]
        if collective.startswith("reduce_scatter"):
            sizes_of = {"is_commutative=yes": sizes_of, "is_commutative=no": own.get("is_commutative=no", own)}
        if collective == "alltoall":
            sizes_of = {"is_sendbuf_inplace=yes": own.get("is_sendbuf_inplace=yes", own),
                        "is_sendbuf_inplace=no": sizes_of}
        result[key] = dict(base[key], **{"comm_type=intra": sizes_of})
    return json.dumps(result, indent=2) + "\n"
