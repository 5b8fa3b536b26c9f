"""Processes that the benchmark starts, the counters the kernel keeps of them, and their end."""
from __future__ import annotations

import contextlib
import os
import pathlib
import resource
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence


class BenchError(Exception):
    """The measurement cannot go on; the text says why."""


def raise_descriptor_limit() -> int:
    """To the hard limit, which everything started from here inherits."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class Process:
    """One program, pinned to `cpus` with all its threads and children, both outputs in files."""

    def __init__(self, name: str, command: Sequence[str], cpus: Sequence[int],
                 folder: pathlib.Path, pipes: bool = False) -> None:
        self.name = name
        self.errors = folder / "stderr"
        self.output = folder / "stdout"
        # Handles, because the number of a process that ended may be somebody else's by now.
        self._children: dict[int, int] = {}
        pinned = ["taskset", "-c", ",".join(map(str, cpus)), *command]
        with self.errors.open("wb") as errors, self.output.open("wb") as output:
            self.popen = subprocess.Popen(
                pinned, stderr=errors, text=True,
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else output)

    def check(self) -> None:
        """Raises when the process is gone."""
        code = self.popen.poll()
        if code is not None:
            tail = self.errors.read_text(errors="replace")[-2000:].strip()
            raise BenchError(f"{self.name} ended with {code}: {tail or 'nothing on its stderr'}")

    def pids(self) -> list[int]:
        """This process and its children (nginx: the master and its workers)."""
        children = [pid for pid, parent in _parents() if parent == self.popen.pid]
        for pid in children:
            if pid not in self._children:
                self._children[pid] = os.pidfd_open(pid)
        return [self.popen.pid, *children]

    def stop(self, patience: float = 5) -> None:
        """SIGTERM, then SIGKILL; children that outlived their parent are not left either."""
        if self.popen.poll() is None:
            self.popen.terminate()
            try:
                self.popen.wait(patience)
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
        for handle in self._children.values():
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
        self._children.clear()
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe is not None:
                pipe.close()


class Counters:
    """What a process and the children it has now have used, read from the kernel."""

    def __init__(self, process: Process) -> None:
        self.pids = process.pids()

    def cpu_ns(self) -> int:
        """User and system time of all threads, living or ended, to the nanosecond.

        The same account as utime and stime in /proc/PID/stat, without their ticks of 10 ms.
        """
        return sum(time.clock_gettime_ns(_cpu_clock(pid)) for pid in self.pids)

    def settled_cpu_ns(self) -> int:
        """As above, once the work that was left over from a run is done (at most a second)."""
        before = self.cpu_ns()
        for _ in range(50):
            time.sleep(0.02)
            now = self.cpu_ns()
            if now - before < 100_000:  # half a percent of the CPU: timers, not sessions
                return now
            before = now
        return before

    def anonymous_bytes(self) -> int:
        """Memory of their own: heap and stacks, not the program's text."""
        return sum(_status_kib(pid, "RssAnon") for pid in self.pids) * 1024

    def reset_peak(self) -> None:
        for pid in self.pids:
            pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")  # see proc(5)

    def peak_bytes(self) -> int:
        """Of the largest process: adding them up would count shared pages twice."""
        return max(_status_kib(pid, "VmHWM") for pid in self.pids) * 1024


def _cpu_clock(pid: int) -> int:
    """The clock id of clock_getcpuclockid(3), whose encoding is part of the kernel's ABI."""
    return (~pid << 3) | 2


def _status_kib(pid: int, key: str) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    raise BenchError(f"/proc/{pid}/status has no {key}")


def _parents() -> Iterator[tuple[int, int]]:
    """(pid, parent) of every process."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text()
        except OSError:  # ended meanwhile
            continue
        yield int(entry.name), int(stat.rpartition(")")[2].split()[1])
