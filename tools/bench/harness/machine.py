"""What numbers depend on, whatever is measured."""
from __future__ import annotations

import contextlib
import datetime
import os
import pathlib
import platform
import shlex
import sys
from typing import Any


def facts() -> dict[str, Any]:
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": shlex.join(sys.argv),
        "kernel": platform.release(),
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
    }


def line(known: dict[str, Any]) -> str:
    return f"{known['cpu']}, {known['cpus']} CPUs, Linux {known['kernel']}"


def progress(text: str) -> None:
    """One line on a terminal, which the next one replaces; nothing in a log."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for entry in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if entry.startswith("model name"):
                return entry.partition(":")[2].strip()
    return platform.machine()
