"""What was measured, as a table for people and as JSON for programs."""
from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any

from . import workloads
from .ratios import Ratio, ratio, verdict
from .rounds import Round
from .workloads import BETTER, COSTS, Workload


@dataclasses.dataclass(frozen=True)
class Row:
    """One proxy at one workload, beside the subject: the first weir that was given."""
    proxy: str
    cost: float
    units_per_second: float
    busy: float
    p50_us: float
    p99_us: float
    peak_bytes: float
    failures: int
    first_failure: str
    ratio: Ratio | None   # the subject's cost to this one's; None for the subject itself
    better: bool          # the cheaper of Debian's two
    target: float | None  # largest ratio that is wanted
    met: str | None       # by `interval`, by `median`, or `no`


def rows(work: Workload, rounds: Sequence[Round], subject: str, judged: bool) -> list[Row]:
    """`judged`: whether the subject is a weir, so that the targets are for it."""
    costs = {name: [samples[name].cost for samples in rounds] for name in rounds[0]}
    rivals = [name for name in ("haproxy", "nginx") if name in costs]
    better = min(rivals, key=lambda name: statistics.median(costs[name]), default=None)
    targets = {better if reference == BETTER else reference: limit
               for reference, limit in work.targets} if judged else {}
    result = []
    for name in sorted(costs, key=lambda name: name != subject):
        samples = [samples[name] for samples in rounds]
        measured = None if name == subject else ratio(costs[subject], costs[name])
        target = targets.get(name)
        result.append(Row(
            name, statistics.median(costs[name]),
            statistics.median(sample.units_per_second for sample in samples),
            statistics.median(sample.busy for sample in samples),
            statistics.median(sample.p50_us for sample in samples),
            statistics.median(sample.p99_us for sample in samples),
            max(sample.peak_bytes for sample in samples),
            sum(sample.failures for sample in samples),
            next((sample.first_failure for sample in samples if sample.failures), ""),
            measured, name == better, target,
            verdict(measured, target) if measured and target else None))
    return result


def table(work: Workload, found: Sequence[Row], rounds: int) -> str:
    cost = COSTS[work.cost]
    subject = found[0].proxy
    head = ["", f"{cost.label}/{work.unit}", f"{work.unit}/s", "busy", "p50", "p99", "peak",
            f"{subject} / this", "target", "met by"]
    lines = [head] + [_cells(row, cost.divisor) for row in found]
    if work.unit == "session":
        lines = [line[:2] + line[6:] for line in lines]
    if all(row.target is None for row in found):
        lines = [line[:-2] for line in lines]
    text = f"{work.title}{_sessions(work)} ({rounds} rounds)\n{aligned(lines)}"
    failed = [f"\n{row.proxy}: {row.failures} FAILED, the first: {row.first_failure}"
              for row in found if row.failures]
    return text + "".join(failed)


def scale_table(work: Workload, rounds: Sequence[Round]) -> str:
    lines = [["", "1 worker", "2 workers", "2 / 1 [95 %]", "us CPU/connection: 1", "2"]]
    for name, facts in scale_facts(rounds).items():
        speeds = [f"{speed:,.0f}/s" for speed in facts["units_per_second"]]
        costs = [f"{cost / 1e3:.1f}" for cost in facts["cost"]]
        lines.append([name, *speeds, _interval(facts["speedup"]), *costs])
    return f"{work.title} ({len(rounds)} rounds)\n{aligned(lines)}"


def scale_facts(rounds: Sequence[Round]) -> dict[str, dict[str, Any]]:
    """For each proxy, [with one worker, with two] and the ratio of their speeds."""
    facts: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(key.rpartition(" x")[0] for key in rounds[0]):
        widths = [[samples[f"{name} x{width}"] for samples in rounds] for width in (1, 2)]
        speeds = [[sample.units_per_second for sample in samples] for samples in widths]
        facts[name] = {
            "units_per_second": [statistics.median(values) for values in speeds],
            "cost": [statistics.median(sample.cost for sample in samples) for samples in widths],
            "speedup": ratio(speeds[1], speeds[0]),
        }
    return facts


def as_json(results: dict[str, list[Round]], subject: str, judged: bool) -> dict[str, Any]:
    """Costs in nanoseconds (CPU time) or bytes (memory) for one unit, peaks in bytes."""
    found: dict[str, Any] = {}
    for name, rounds in results.items():
        work = workloads.ALL[name]
        entry: dict[str, Any] = {"title": work.title, "unit": work.unit}
        if name == "scale":
            entry["summary"] = {proxy: facts | {"speedup": dataclasses.asdict(facts["speedup"])}
                                for proxy, facts in scale_facts(rounds).items()}
        else:
            entry["summary"] = [dataclasses.asdict(row)
                                for row in rows(work, rounds, subject, judged)]
        entry["rounds"] = [{proxy: dataclasses.asdict(sample) for proxy, sample in samples.items()}
                           for samples in rounds]
        found[name] = entry
    return found


def _cells(row: Row, divisor: float) -> list[str]:
    """The marks of the row: `*` for the better of Debian's two."""
    return [row.proxy + (" *" if row.better else ""),
            f"{row.cost / divisor:.2f}",
            f"{row.units_per_second:,.0f}" if row.units_per_second > 100
            else f"{row.units_per_second:.2f}",
            f"{row.busy:.0%}",
            _time(row.p50_us), _time(row.p99_us),
            f"{row.peak_bytes / workloads.MIB:.1f} MiB",
            _interval(row.ratio) if row.ratio else "",
            f"<= {row.target:.2f}" if row.target else "",
            row.met or ""]


def _sessions(work: Workload) -> str:
    return f", {work.connections} at a time" if work.unit == "session" else ""


def _time(us: float) -> str:
    return f"{us:.0f} us" if us < 1000 else f"{us / 1000:.1f} ms"


def _interval(measured: Ratio) -> str:
    return f"{measured.median:.3f} [{measured.low:.3f}, {measured.high:.3f}]"


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """The first column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) if place else cell.ljust(width)
                               for place, (cell, width) in enumerate(zip(line, widths))).rstrip()
                     for line in lines)
