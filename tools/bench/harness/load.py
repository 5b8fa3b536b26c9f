"""The two halves of tools/bench/*.cc: the backend that answers and the client that asks."""
from __future__ import annotations

import json
import pathlib
import select
import subprocess
from collections.abc import Sequence
from typing import Any, Self

from .processes import BenchError, Process


class _Half(Process):
    """Speaks JSON lines, one for each line it is sent; ends when its standard input does."""

    def __init__(self, name: str, program: pathlib.Path, words: Sequence[str],
                 cpus: Sequence[int], folder: pathlib.Path, patience: float) -> None:
        folder.mkdir(exist_ok=True)
        super().__init__(name, [str(program), *words], cpus, folder, pipes=True)
        try:
            self.first = self.read(patience)  # what it says when it is ready
        except BaseException:
            self.stop()
            raise

    def read(self, patience: float) -> dict[str, Any]:
        assert self.popen.stdout is not None
        readable, _, _ = select.select([self.popen.stdout], [], [], patience)
        line = self.popen.stdout.readline() if readable else ""
        if not line:
            if readable:
                self.popen.wait(5)
            self.check()
            raise BenchError(f"{self.name} said nothing for {patience:.0f} s")
        return json.loads(line)

    def go(self) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write("go\n")
        self.popen.stdin.flush()

    def stop(self, patience: float = 5) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.close()
        try:
            self.popen.wait(patience)
        except subprocess.TimeoutExpired:
            pass  # not at its standard input: it needs the signal
        super().stop(patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Backend(_Half):
    """The backends, all in one process: one port for each."""

    def __init__(self, program: pathlib.Path, count: int, cpus: Sequence[int],
                 folder: pathlib.Path) -> None:
        super().__init__("the backend", program, ["backend", f"listeners={count}"], cpus,
                         folder / "backend", patience=10)
        self.ports: list[int] = self.first["ports"]


class Client(_Half):
    """Connected to a proxy, waiting for go(); its connections live as long as it does."""

    def __init__(self, program: pathlib.Path, words: Sequence[str], port: int,
                 cpus: Sequence[int], folder: pathlib.Path) -> None:
        super().__init__("the client", program, ["client", f"port={port}", *words], cpus,
                         folder / "client", patience=60)

    def run(self) -> dict[str, Any]:
        self.go()
        return self.read(600)
