# SPDX-License-Identifier: BSD-3-Clause
"""plots.py - latency over size, a line for each algorithm, by gnuplot; a bar where another one wins."""

import subprocess

import tuning


def quoted(text):
    """Between single quotes a quote is two; other signs mean nothing there without `enhanced`."""
    return "'" + text.replace("'", "''") + "'"


def script(collective, ranks, nodes, by_size, won, output):
    """The script holds its data, so it can be kept and drawn again otherwise."""
    names = sorted({name for times in by_size.values() for name in times})
    lines = ["set key outside right", "set grid", "set logscale y", "set xlabel 'bytes'", "set ylabel 'us'",
             "set title " + quoted(f"{collective}, {ranks} ranks on {nodes} nodes") + " noenhanced"]
    if len(by_size) > 1 and 0 not in by_size:
        lines.append("set logscale x 2\nset format x '%.0b %B'")
    borders = [last for last, _ in tuning.spans(won) if last is not None]
    lines += [f"set arrow from {b}, graph 0 to {b}, graph 1 nohead dashtype 2" for b in borders]
    for number, name in enumerate(names):
        points = [f"{s} {times[name]}" for s, times in sorted(by_size.items()) if name in times]
        lines.append(f"$d{number} << EOD\n" + "\n".join(points) + "\nEOD")
    lines += ["set terminal pngcairo noenhanced size 1000,600", "set output " + quoted(output + ".png"),
              "plot " + ", ".join(f"$d{n} with linespoints title {quoted(name)}" for n, name in enumerate(names)),
              "set terminal svg noenhanced size 1000,600", "set output " + quoted(output + ".svg"), "replot",
              "unset output"]
    return "\n".join(lines) + "\n"


def draw(points, best, prefix):
    for (collective, nodes), all_ranks in tuning.group(points).items():
        for ranks, by_size in all_ranks.items():
            output = f"{prefix}-{collective}-{ranks}" + ("" if nodes == 1 else f"-{nodes}-nodes")
            text = script(collective, ranks, nodes, by_size, best[collective, nodes][ranks], output)
            tuning.write(output + ".gnuplot", text)
            run = subprocess.run(["gnuplot", output + ".gnuplot"], capture_output=True, text=True, check=False)
            if run.returncode:
                raise tuning.Wrong(f"gnuplot {output}.gnuplot: {run.stderr.strip()}")
