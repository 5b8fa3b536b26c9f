"""The measurement: rounds in which every proxy does every workload, one after the other.

All proxies run the whole time and an idle one costs nothing, so that what the machine does besides
hits all of them alike; the order rotates from round to round.
"""
from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import time
from collections.abc import Callable, Sequence

from . import workloads
from .load import Backend, Client
from .processes import BenchError
from .proxies import Proxy, Variant
from .reader import Reader
from .workloads import Workload

BACKENDS = 2

# Rounds in which nothing depends on timing: more of them would say the same.
IDLE_ROUNDS = 3


@dataclasses.dataclass(frozen=True)
class Sample:
    """One proxy doing one workload once."""
    cost: float              # nanoseconds of CPU time, or bytes, for one unit
    units_per_second: float  # by the clock
    busy: float              # share of one CPU that the proxy had
    p50_us: int
    p99_us: int
    peak_bytes: int          # resident, of the largest process, within this run
    failures: int
    first_failure: str


Round = dict[str, Sample]  # by the name of the variant
Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Bench:
    """Where and with what to measure."""
    load_program: pathlib.Path
    folder: pathlib.Path      # for everything that is written meanwhile
    proxy_cpus: Sequence[int]
    load_cpus: Sequence[int]
    sessions: int             # the most that a proxy is told to expect at a time
    say: Say                  # progress

    def unpinned(self) -> Bench:
        both = sorted({*self.proxy_cpus, *self.load_cpus})
        return dataclasses.replace(self, proxy_cpus=both, load_cpus=both)


def measure(bench: Bench, variants: Sequence[Variant], chosen: Sequence[Workload],
            count: int) -> dict[str, list[Round]]:
    """By the name of the workload."""
    loads = [work for work in chosen if work.name not in ("idle", "scale")]
    results: dict[str, list[Round]] = {}
    if loads:
        results |= _interleaved(bench, variants, loads, count)
    for work in chosen:
        if work.name == "idle":
            results[work.name] = _fresh(bench, variants, work, min(count, IDLE_ROUNDS))
        if work.name == "scale":
            widths = [variant.with_threads(threads) for variant in variants
                      if not variant.splice for threads in (1, 2)]
            results |= _interleaved(bench.unpinned(), widths, [work], count)
    return results


def _interleaved(bench: Bench, variants: Sequence[Variant], loads: Sequence[Workload],
                 count: int) -> dict[str, list[Round]]:
    results: dict[str, list[Round]] = {work.name: [] for work in loads}
    with contextlib.ExitStack() as stack:
        backend = stack.enter_context(
            Backend(bench.load_program, BACKENDS, bench.load_cpus, bench.folder))
        proxies = [stack.enter_context(Proxy(variant, backend.ports, bench.proxy_cpus,
                                             bench.folder, bench.sessions))
                   for variant in variants]
        for work in loads:
            _round(bench, proxies, work.quick(), "warm-up")
        for number in range(count):
            turn = number % len(proxies)
            order = proxies[turn:] + proxies[:turn]
            for work in loads:
                what = f"round {number + 1} of {count}"
                results[work.name].append(_round(bench, order, work, what))
    return results


def _round(bench: Bench, proxies: Sequence[Proxy], work: Workload, what: str) -> Round:
    samples: Round = {}
    for proxy in proxies:
        if proxy.splice and work.name not in workloads.SPLICED:
            continue
        bench.say(f"{what}: {work.name}, {proxy.name}")
        samples[proxy.name] = _checked(proxy, lambda: _run(bench, proxy, work))
    return samples


def _checked(proxy: Proxy, run: Callable[[], Sample]) -> Sample:
    """Says so when a run failed because the proxy ended, and through which proxy it failed."""
    try:
        return run()
    except (BenchError, OSError) as problem:
        time.sleep(0.1)  # a dying process closes its sockets before it can be waited for
        proxy.check()
        raise BenchError(f"through {proxy.name}: {problem}") from problem


def _run(bench: Bench, proxy: Proxy, work: Workload) -> Sample:
    with Client(bench.load_program, work.words(), proxy.port, bench.load_cpus,
                bench.folder) as client:
        proxy.counters.reset_peak()
        before = proxy.counters.settled_cpu_ns()
        with Reader(proxy.metrics_port) if proxy.metrics_port else contextlib.nullcontext():
            report = client.run()
        spent = proxy.counters.settled_cpu_ns() - before
        if report["exchanges"] == 0:
            raise BenchError(f"every exchange failed, the first: {report['first_failure']}")
        return Sample(cost=spent / work.units(),
                      units_per_second=work.units() / report["seconds"],
                      busy=spent / 1e9 / report["seconds"],
                      p50_us=report["p50_us"], p99_us=report["p99_us"],
                      peak_bytes=proxy.counters.peak_bytes(),
                      failures=report["failures"], first_failure=report["first_failure"])


def _fresh(bench: Bench, variants: Sequence[Variant], work: Workload, count: int) -> list[Round]:
    rounds: list[Round] = []
    with Backend(bench.load_program, BACKENDS, bench.load_cpus, bench.folder) as backend:
        for number in range(count):
            samples: Round = {}
            for variant in variants:
                if variant.splice:
                    continue
                bench.say(f"round {number + 1} of {count}: {work.name}, {variant.name}")
                with Proxy(variant, backend.ports, bench.proxy_cpus, bench.folder,
                           bench.sessions) as proxy:
                    samples[variant.name] = _checked(proxy, lambda: _idle(bench, proxy, work))
            rounds.append(samples)
    return rounds


def _idle(bench: Bench, proxy: Proxy, work: Workload) -> Sample:
    """Every session has carried a small exchange, so that both legs and all buffers were in use."""
    before = proxy.counters.anonymous_bytes()
    with Client(bench.load_program, work.words(), proxy.port, bench.load_cpus, bench.folder):
        proxy.counters.settled_cpu_ns()
        grown = proxy.counters.anonymous_bytes() - before
        return Sample(cost=max(grown, 1) / work.units(), units_per_second=0, busy=0, p50_us=0,
                      p99_us=0, peak_bytes=proxy.counters.peak_bytes(), failures=0,
                      first_failure="")
