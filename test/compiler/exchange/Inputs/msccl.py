#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""msccl.py ALGORITHM GPUS [MISTAKE] - writes an algorithm as MSCCL has it, an element a line.

Algorithms: allreduce_ring, allreduce_allpairs, allgather_ring, alltoall_pairs, broadcast_chain,
reduce_scatter_ring, reduce_scatter_pairs.
A mistake that takes more than changing one attribute is planted by its name.
"""

import sys


class Block:
    """A thread block: its steps get their numbers here."""

    def __init__(self, gpu, send, recv, chan=0):
        self.id, self.send, self.recv, self.chan = len(gpu), send, recv, chan
        self.lines = []
        gpu.append(self)

    def step(self, kind, src=("i", 0), dst=("o", 0), dep=(-1, -1), told=0):
        self.lines.append(
            f'      <step s="{len(self.lines)}" type="{kind}" srcbuf="{src[0]}" srcoff="{src[1]}" '
            f'dstbuf="{dst[0]}" dstoff="{dst[1]}" cnt="1" depid="{dep[0]}" deps="{dep[1]}" '
            f'hasdep="{told}"/>')
        return self.id, len(self.lines) - 1


def allreduce_ring(me, n, mistake):
    gpu = []
    tb = Block(gpu, (me + 1) % n, (me - 1) % n)
    chunk = lambda k: (me - k) % n
    tb.step("s", ("i", chunk(0)))
    for k in range(1, n - 1):
        tb.step("rrs", ("i", chunk(k)))
    tb.step("rrcs", ("i", chunk(n - 1)), ("o", chunk(n - 1)))
    for k in range(1, n - 1):
        tb.step("rcs", dst=("o", chunk(k - 1)))
    tb.step("r", dst=("o", chunk(n - 2)))
    return gpu, 0


def allreduce_allpairs(me, n, mistake):
    gpu = []
    peers = [(me + k) % n for k in range(1, n)]
    arrived = []
    for i, peer in enumerate(peers):
        tb = Block(gpu, peer, peer)
        if mistake == "scribble":  # on `o`, which is overwritten; in place that is `i`
            tb.step("s", ("i", me))
            tb.step("r", dst=("o", peer))
        tb.step("s", ("i", peer))
        arrived.append(tb.step("r", dst=("s", i), told=1 if i else 0))
    first = gpu[0]
    for dep in arrived[1:]:
        first.step("nop", dep=dep)
    combined = first.step("cpy", ("i", me), ("o", me))
    for i in range(len(peers)):
        combined = first.step("re", ("s", i), ("o", me), told=1 if i == len(peers) - 1 else 0)
    for tb, peer in zip(gpu, peers):
        tb.step("s", ("o", me), dep=combined if tb is not first else (-1, -1))
        tb.step("r", dst=("o", peer))
    return gpu, len(peers)


def allgather_ring(me, n, mistake):
    gpu = []
    tb = Block(gpu, (me + 1) % n, (me - 1) % n)
    if mistake == "receive-first":
        tb.step("r", dst=("o", (me - 1) % n))
        tb.step("s", ("i", 0))
        return gpu, 0
    tb.step("s", ("i", 0))
    for k in range(1, n - 1):
        tb.step("rcs", dst=("o", (me - k) % n))
    tb.step("r", dst=("o", (me + 1) % n))
    Block(gpu, -1, -1).step("cpy", ("i", 0), ("o", me))
    return gpu, 0


def alltoall_pairs(me, n, mistake):
    """Two channels to each peer would not be needed; they show that their order is kept."""
    gpu = []
    own = Block(gpu, -1, -1)
    for peer in range(n):
        if peer != me:
            for part in (0, 1):
                chan = part if me < peer else 1 - part  # the ends name them in another order
                tb = Block(gpu, peer, peer, chan)
                tb.step("s", ("i", 2 * peer + chan))
                tb.step("r", dst=("o", 2 * peer + chan))
    own.step("cpy", ("i", 2 * me), ("o", 2 * me))
    own.step("cpy", ("i", 2 * me + 1), ("o", 2 * me + 1))
    return gpu, 0


def broadcast_chain(me, n, mistake):
    gpu = []
    tb = Block(gpu, me + 1 if me + 1 < n else -1, me - 1)
    tb.step("s" if me == 0 else "rcs" if me + 1 < n else "r")
    return gpu, 0


def reduce_scatter_ring(me, n, mistake):
    """Two chunks in a block, on a channel each."""
    gpu = []
    for half in (0, 1):
        tb = Block(gpu, (me + 1) % n, (me - 1) % n, half)
        tb.step("s", ("i", 2 * ((me - 1) % n) + half))
        for k in range(2, n):
            tb.step("rrs", ("i", 2 * ((me - k) % n) + half))
        tb.step("rrc", ("i", 2 * me + half), ("o", half))
    return gpu, 0


def reduce_scatter_pairs(me, n, mistake):
    gpu = []
    peers = [(me + k) % n for k in range(1, n)]
    arrived = []
    for i, peer in enumerate(peers):
        tb = Block(gpu, peer, peer)
        tb.step("s", ("i", peer))
        arrived.append(tb.step("r", dst=("s", i), told=1 if i else 0))
    first = gpu[0]
    for dep in arrived[1:]:
        first.step("nop", dep=dep)
    if mistake == "scribble":  # on `o`, which is overwritten; in place that is the own block of `i`
        first.step("cpy", ("i", peers[0]), ("o", 0))
    first.step("cpy", ("i", me), ("o", 0))
    for i in range(len(peers)):
        first.step("re", ("s", i), ("o", 0))
    return gpu, len(peers)


def main():
    name, n = sys.argv[1], int(sys.argv[2])
    mistake = sys.argv[3] if len(sys.argv) > 3 else ""
    coll = name.rpartition("_")[0]
    factor = 2 if name in ("alltoall_pairs", "reduce_scatter_ring") else 1  # chunks in a block
    loop = 1 if coll == "broadcast" else factor * n
    in_place = 0 if coll == "alltoall" else 1
    out_of_place = 0 if coll == "broadcast" else 1
    print(f'<algo name="{name}" proto="Simple" nchannels="1" nchunksperloop="{loop}" ngpus="{n}" '
          f'coll="{coll}" inplace="{in_place}" outofplace="{out_of_place}">')
    for me in range(n):
        gpu, scratch = globals()[name](me, n, mistake)
        print(f'  <gpu id="{me}" i_chunks="{factor if coll == "allgather" else loop}" '
              f'o_chunks="{factor if coll == "reduce_scatter" else loop}" s_chunks="{scratch}">')
        for tb in gpu:
            print(f'    <tb id="{tb.id}" send="{tb.send}" recv="{tb.recv}" chan="{tb.chan}">')
            print("\n".join(tb.lines))
            print("    </tb>")
        print("  </gpu>")
    print("</algo>")


if __name__ == "__main__":
    main()
