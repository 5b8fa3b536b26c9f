"""A Redis that keeps nothing on disk."""

from __future__ import annotations

from pathlib import Path

import ports
from child import Child, run_unchecked
from deadline import wait_until


class RedisServer:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.port = ports.free_port()
        self.address = f"127.0.0.1:{self.port}"
        settings = {"port": str(self.port), "bind": "127.0.0.1", "save": "", "dir": str(folder)}
        options = [part for key, value in settings.items() for part in (f"--{key}", value)]
        self.child = Child(["redis-server", *options], folder / "redis.log")
        wait_until(self._is_ready, "Redis to answer")

    def _is_ready(self) -> bool:
        if not self.child.is_running():
            raise AssertionError(self.child.tail())
        return run_unchecked(["redis-cli", "-p", str(self.port), "PING"]).stdout == "PONG\n"

    def stop(self) -> None:
        code = self.child.stop()
        if code != 0:
            raise AssertionError(f"Redis's exit code is {code}\n{self.child.tail()}")
