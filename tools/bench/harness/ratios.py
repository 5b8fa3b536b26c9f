"""Medians of per-round ratios and how far to trust them."""
from __future__ import annotations

import dataclasses
import random
import statistics
from collections.abc import Sequence

RESAMPLES = 4000


@dataclasses.dataclass(frozen=True)
class Ratio:
    """The median over the rounds and its 95 % bootstrap interval."""
    median: float
    low: float
    high: float


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Round by round: what disturbs a whole round disturbs both and cancels out."""
    rounds = [our / their for our, their in zip(ours, theirs, strict=True)]
    rng = random.Random(1)  # the same rounds give the same interval
    medians = sorted(statistics.median(rng.choices(rounds, k=len(rounds)))
                     for _ in range(RESAMPLES))
    return Ratio(statistics.median(rounds), medians[int(0.025 * RESAMPLES)],
                 medians[int(0.975 * RESAMPLES) - 1])


def verdict(measured: Ratio, limit: float) -> str:
    """What is within the limit: the whole `interval`, only the `median`, or `no`."""
    if measured.median > limit:
        return "no"
    return "interval" if measured.high <= limit else "median"
