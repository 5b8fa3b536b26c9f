"""scripts/bench core: what one operation of admission and circuit costs, and that none allocates."""
from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from . import machine
from .processes import BenchError
from .report import aligned

DESCRIPTION = """\
Measures the operations of weir's core that every session goes through, with 1, 2, 4 and 8 threads
on one admission or one circuit. A figure is the CPU time of an operation, the median of the rounds
and their range. `CPUs` is how many the threads had together: with fewer than two they did not meet
in the same cache line, whatever their number, and what contention costs was not measured.
Exits with 1 if any operation has allocated memory.
"""


@dataclasses.dataclass(frozen=True)
class Row:
    """One workload with one number of threads, over all rounds."""
    workload: str
    threads: int
    ns: float                 # of CPU time for one operation, median
    least_ns: float
    most_ns: float
    million_per_second: float  # by the clock, all threads together
    cpus: float
    allocations: int
    operations: int


def main(root: pathlib.Path, words: Sequence[str]) -> int:
    options = _options(words)
    if not options.no_setup:
        for command in (["setup"], ["build", "release", "--target", "weir-bench-core"]):
            subprocess.run([root / "scripts" / command[0], *command[1:]], check=True,
                           stdout=sys.stderr)
    program = root / "build" / "release" / "weir-bench-core"
    found = rows(_measure(program, options.rounds, 10 if options.quick else 200))
    facts = machine.facts()
    print(machine.line(facts))
    print(f"\n{table(found, options.rounds)}")
    if options.json:
        facts["core"] = [dataclasses.asdict(row) for row in found]
        options.json.write_text(json.dumps(facts, indent=1) + "\n")
    guilty = [row for row in found if row.allocations]
    for row in guilty:
        print(f"bench: {row.workload}, {row.threads} threads: {row.allocations} ALLOCATIONS in "
              f"{row.operations} operations, and there must be none", file=sys.stderr)
    return 1 if guilty else 0


def rows(samples: Iterable[dict[str, Any]]) -> list[Row]:
    """The samples are the lines of weir-bench-core."""
    runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for sample in samples:
        runs.setdefault((sample["workload"], sample["threads"]), []).append(sample)
    result = []
    for (workload, threads), rounds in runs.items():
        costs = [each["cpu_ns"] / each["operations"] for each in rounds]
        result.append(Row(
            workload, threads, statistics.median(costs), min(costs), max(costs),
            statistics.median(each["operations"] * 1e3 / each["clock_ns"] for each in rounds),
            statistics.median(each["cpu_ns"] / each["clock_ns"] for each in rounds),
            sum(each["allocations"] for each in rounds),
            sum(each["operations"] for each in rounds)))
    return result


def table(found: Sequence[Row], rounds: int) -> str:
    lines = [["", "threads", "ns/operation", "range", "million/s", "CPUs", "allocations"]]
    workload = ""
    for row in found:
        lines.append(["" if row.workload == workload else row.workload, str(row.threads),
                      f"{row.ns:.1f}", f"{row.least_ns:.1f} to {row.most_ns:.1f}",
                      f"{row.million_per_second:.1f}", f"{row.cpus:.2f}", str(row.allocations)])
        workload = row.workload
    return f"operations of the core ({rounds} rounds)\n{aligned(lines)}"


def _measure(program: pathlib.Path, rounds: int, milliseconds: int) -> list[dict[str, Any]]:
    samples = []
    with subprocess.Popen([program, f"rounds={rounds}", f"milliseconds={milliseconds}"],
                          stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            samples.append(json.loads(line))
            machine.progress(f"round {samples[-1]['round'] + 1} of {rounds}: "
                             f"{samples[-1]['workload']}")
    machine.progress("")
    if running.returncode != 0:
        raise BenchError(f"{program.name} ended with {running.returncode}")
    return samples


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench core", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--rounds", type=int, metavar="N", help="default 15, with --quick 2")
    add("--json", type=pathlib.Path, metavar="FILE", help="also write every number there")
    add("--quick", action="store_true", help="a second or two, to see that it runs")
    add("--no-setup", action="store_true", help="neither install nor build anything")
    options = parser.parse_args(words)
    options.rounds = options.rounds or (2 if options.quick else 15)
    return options
