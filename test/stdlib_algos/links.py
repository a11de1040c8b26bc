# SPDX-License-Identifier: BSD-3-Clause
"""links.py X - reads the schedules of all ranks of a gather, and lays their messages onto a torus.

    schedule @torus_binomial gather rank 3 of 16 ...
      %1 = recv tmp[...] from 7 round 0        =>      in step 0: the links from 7 to 3

Rank r stands at column r mod X, row r / X; links go up by one, around. A message takes its row's
links first, then its column's. Prints how many links a message of the first step takes, at most,
and how many messages share a link in a step.
"""

import collections
import re
import sys


def route(start, end, columns, rows):
    x, y = start % columns, start // columns
    while x != end % columns:
        yield x, y, "row"
        x = (x + 1) % columns
    while y != end // columns:
        yield x, y, "column"
        y = (y + 1) % rows


def main():
    columns = int(sys.argv[1])
    ranks, rank, longest, used = 0, 0, 0, collections.Counter()
    for line in sys.stdin:
        if head := re.match(r"schedule .* rank (\d+) of (\d+)", line):
            rank, ranks = map(int, head.groups())
        if message := re.search(r"= recv .* from (\d+) round (\d+)", line):
            sender, step = map(int, message.groups())
            links = list(route(sender, rank, columns, ranks // columns))
            used.update((step, link) for link in links)
            longest = max(longest, len(links)) if step == 0 else longest
    print(f"{ranks} ranks, {columns} columns: first over {longest}, shared by {max(used.values())}")


if __name__ == "__main__":
    main()
