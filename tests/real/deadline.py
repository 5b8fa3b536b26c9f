"""Waiting on conditions: every wait has a deadline, and none has a fixed length."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# How long a wait may take before it counts as a failure. Long, as it is only spent when something is
# wrong, and a loaded machine must not look like a fault.
PATIENCE = 60.0
# Between two looks at a condition: short beside anything that is waited for, and cheap.
POLL = 0.02

_never = threading.Event()


class DeadlineMissed(AssertionError):
    """What was waited for did not come about in time."""


def wait_until(condition: Callable[[], T], what: str, seconds: float = PATIENCE) -> T:
    """Returns the condition's first true value; raises DeadlineMissed when there is none in time."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise DeadlineMissed(f"waited {seconds:g}s for {what}")
        _never.wait(POLL)
