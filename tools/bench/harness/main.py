"""The command line of scripts/bench."""
from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from . import core, machine, proxies, report, workloads
from .processes import BenchError, raise_descriptor_limit
from .proxies import Variant
from .rounds import Bench, Round, measure
from .workloads import Workload

PROXIES = ["weir", "haproxy", "haproxy-splice", "nginx"]

DESCRIPTION = """\
Measures the CPU time that weir, haproxy and nginx spend on the same work, in one run: the proxy on
one CPU, clients and backends on the others, rounds interleaved. A ratio is the median over the
rounds of weir's cost to the other's, with its 95 % bootstrap interval; `*` marks the better of
Debian's two. A target is met by the `interval` when the whole of it is within, else by the
`median`; for a limit finer than 5 % only the interval counts, over at least 41 rounds.

`scripts/bench core` measures weir's core by itself: see `scripts/bench core --help`.
"""


def main(root: pathlib.Path) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is stopped
    try:
        if sys.argv[1:2] == ["core"]:
            return core.main(root, sys.argv[2:])
        options = _options()
        if not options.no_setup:
            subprocess.run([root / "scripts" / "setup", "bench"], check=True, stdout=sys.stderr)
            subprocess.run([root / "scripts" / "build", "release"], check=True, stdout=sys.stderr)
        return _bench(root, options)
    except BenchError as problem:
        print(f"\nbench: {problem}", file=sys.stderr)
    except subprocess.CalledProcessError as problem:
        print(f"bench: {problem}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nbench: interrupted", file=sys.stderr)
    return 2


def _bench(root: pathlib.Path, options: argparse.Namespace) -> int:
    variants = _variants(root, options)
    chosen = [workloads.ALL[name] for name in options.workload]
    if options.quick:
        chosen = [work.quick() for work in chosen]
    # Two descriptors a session, haproxy half a one more for the pipes of splice, some to spare.
    sessions = raise_descriptor_limit() * 3 // 8
    for work in chosen:
        if work.connections > sessions:
            raise BenchError(f"{work.name} needs a larger hard limit of descriptors (ulimit -Hn)")
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as folder:
        os.chmod(folder, 0o755)  # nginx's workers run as nobody
        bench = Bench(options.load or root / "build" / "release" / "weir-bench-load",
                      pathlib.Path(folder), options.proxy_cpus, options.load_cpus, sessions,
                      machine.progress)
        results = measure(bench, variants, chosen, options.rounds)
    machine.progress("")
    return _present(options, variants, chosen, results)


def _present(options: argparse.Namespace, variants: Sequence[Variant],
             chosen: Sequence[Workload], results: dict[str, list[Round]]) -> int:
    subject = variants[0]
    judged = subject.kind == "weir"
    facts = _facts(options, variants)
    print(machine.line(facts))
    for name, program in facts["programs"].items():
        print(f"{name}: {program['version']}")
    passed = True
    for work in chosen:
        rounds = results[work.name]
        if work.name == "scale":
            print("\n" + report.scale_table(work, rounds))
            continue
        found = report.rows(work, rounds, subject.name, judged)
        passed = passed and all(row.met != "no" and not row.failures for row in found)
        print("\n" + report.table(work, found, len(rounds)))
    if options.json:
        facts["workloads"] = report.as_json(results, subject.name, judged)
        options.json.write_text(json.dumps(facts, indent=1) + "\n")
    return 1 if options.check and not passed else 0


def _variants(root: pathlib.Path, options: argparse.Namespace) -> list[Variant]:
    """Every weir, then what it is compared with."""
    wanted = options.proxies
    found = []
    if "weir" in wanted:
        builds = options.weir or [("weir", root / "build" / "release" / "weir")]
        found += [Variant(name, "weir", str(path.resolve())) for name, path in builds]
        first = found[0]
        if options.limits:
            found.insert(0, dataclasses.replace(first, name=f"{first.name}-limits", limits=True))
        if options.metrics:
            found.insert(0, dataclasses.replace(first, name=f"{first.name}-read", read=True))
    for kind in ("haproxy", "nginx"):
        names = [name for name in wanted if name.partition("-")[0] == kind]
        program = proxies.find(kind)
        if names and program is None:
            raise BenchError(f"{kind} is not installed: see scripts/setup bench")
        found += [Variant(name, kind, str(program), splice=name.endswith("-splice"))
                  for name in names]
    for variant in found:
        if not os.access(variant.program, os.X_OK):
            raise BenchError(f"{variant.name}: {variant.program} is not a program")
    return found


def _facts(options: argparse.Namespace, variants: Sequence[Variant]) -> dict[str, Any]:
    """What the numbers depend on."""
    return machine.facts() | {
        "proxy_cpus": options.proxy_cpus,
        "load_cpus": options.load_cpus,
        "quick": options.quick,
        "programs": {variant.name: {"version": variant.version(), "sha256": variant.sha256()}
                     for variant in variants},
    }


def _options() -> argparse.Namespace:
    cpus = sorted(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(prog="scripts/bench", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--rounds", type=int, metavar="N", help="default 7, with --quick 2")
    add("--workload", type=_listed(list(workloads.ALL)), default=list(workloads.ALL),
        metavar="A,B", help=f"of {', '.join(workloads.ALL)}")
    add("--proxies", type=_listed(PROXIES), default=PROXIES, metavar="A,B",
        help=f"of {', '.join(PROXIES)}")
    add("--weir", type=_build, action="append", metavar="[NAME=]PATH",
        help="another build than build/release/weir; more than one are compared with the first")
    add("--limits", action="store_true",
        help="the first weir once more, with every limit of `resilience` set, compared with all")
    add("--metrics", action="store_true",
        help="the first weir once more, its /metrics read every second, compared with all")
    add("--json", type=pathlib.Path, metavar="FILE", help="also write every number there")
    add("--quick", action="store_true", help="a few seconds, to see that it runs")
    add("--check", action="store_true", help="exit 1 when the median misses a target")
    add("--no-setup", action="store_true", help="neither install nor build anything")
    add("--load", type=pathlib.Path, metavar="PATH",
        help="another load generator than build/release/weir-bench-load")
    add("--proxy-cpus", type=_numbers, default=cpus[-1:], metavar="N,N")
    add("--load-cpus", type=_numbers, default=cpus[:-1] or cpus, metavar="N,N")
    options = parser.parse_args()
    options.rounds = options.rounds or (2 if options.quick else 7)
    return options


def _listed(allowed: Sequence[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        names = text.split(",")
        for name in names:
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(allowed)}")
        return names
    return parse


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def _build(text: str) -> tuple[str, pathlib.Path]:
    name, equals, path = text.rpartition("=")
    return (name if equals else "weir"), pathlib.Path(path)
