"""A running weir, and what it says of itself at its end."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import accounts
import ports
from child import Child
from deadline import PATIENCE, wait_until
from weir_config import Config

Json = dict[str, Any]


def binary() -> str:
    """The weir under test: WEIR_BINARY, or the release build of this checkout."""
    built = Path(__file__).resolve().parents[2] / "build" / "release" / "weir"
    return os.environ.get("WEIR_BINARY") or str(built)


class Weir:
    """Started with a configuration of its own in `folder`; ready when the constructor returns."""

    def __init__(self, config: Config, folder: Path, program: str | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._access_log = folder / "access.log"
        file = folder / "weir.yaml"
        file.write_text(config.yaml(self._access_log))
        self.child = Child([program or binary(), "-c", str(file)], folder / "weir.log")
        self.stopped = False
        self._binds = [listener.bind for listener in config.listeners]
        wait_until(self._is_ready, "weir to listen")

    def _is_ready(self) -> bool:
        if not self.child.is_running():
            raise AssertionError(f"weir did not start\n{self.child.tail()}")
        return all(ports.is_listening(bind) for bind in self._binds)

    @property
    def pid(self) -> int:
        return self.child.pid

    def open_fds(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def resident_kib(self) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise AssertionError("weir has no resident memory: it has ended")

    def cpu_seconds(self) -> float:
        # Fields 14 and 15 of proc_pid_stat(5), counted behind the name, which may hold spaces.
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def sessions(self) -> list[Json]:
        """The access log so far; a line still being written is left for the next call."""
        if not self._access_log.exists():
            return []
        whole = self._access_log.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines()]

    def wait_for_sessions(self, count: int, seconds: float = PATIENCE) -> list[Json]:
        """Waits until `count` sessions have ended and been logged."""
        wait_until(lambda: len(self.sessions()) >= count, f"{count} sessions to end", seconds)
        return self.sessions()

    def begin_to_stop(self) -> None:
        """SIGTERM; it drains while its sessions last. stop() waits for the end."""
        os.kill(self.pid, signal.SIGTERM)

    def stop(self) -> Json:
        """SIGTERM; returns the final snapshot once everything adds up, else fails with all faults."""
        snapshot, found = self.finish()
        if found or snapshot is None:
            raise AssertionError("\n  ".join(["after SIGTERM:", *found]))
        return snapshot

    def finish(self) -> tuple[Json | None, list[str]]:
        """SIGTERM; the final snapshot, and all that is wrong with it or with the way weir ended."""
        self.stopped = True
        code = self.child.stop(signal.SIGTERM)
        found = [] if code == 0 else [f"weir's exit code is {code}, not 0"]
        snapshot = self._exit_snapshot()
        if snapshot is None:
            return None, [*found, "weir wrote no exit_snapshot"]
        return snapshot, found + accounts.faults(snapshot, self.sessions())

    def _exit_snapshot(self) -> Json | None:
        for line in reversed(self.child.output().splitlines()):
            if line.startswith("{") and '"exit_snapshot"' in line:
                return json.loads(line)["snapshot"]
        return None
