"""A proxy under test."""
from __future__ import annotations

import dataclasses
import hashlib
import pathlib
import random
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence

from . import configs
from .processes import BenchError, Counters, Process


@dataclasses.dataclass(frozen=True)
class Variant:
    """What could be run: a program with some settings, under the name it has in the tables."""
    name: str
    kind: str  # weir, haproxy or nginx
    program: str
    splice: bool = False
    threads: int = 1
    limits: bool = False
    read: bool = False  # its metrics are, meanwhile

    def with_threads(self, threads: int) -> Variant:
        return dataclasses.replace(self, name=f"{self.name} x{threads}", threads=threads)

    def version(self) -> str:
        flag = {"weir": "--version", "haproxy": "-v", "nginx": "-v"}[self.kind]
        result = subprocess.run([self.program, flag], capture_output=True, text=True, check=False)
        text = (result.stdout + result.stderr).strip()
        return text.splitlines()[0] if text else "unknown"

    def sha256(self) -> str:
        return hashlib.sha256(pathlib.Path(self.program).read_bytes()).hexdigest()


class Proxy:
    """A variant, running and ready: between `with` and its end."""

    def __init__(self, variant: Variant, backends: list[int], cpus: Sequence[int],
                 folder: pathlib.Path, sessions: int) -> None:
        self.name = variant.name
        self.splice = variant.splice
        self.folder = folder / re.sub(r"[^\w.-]", "_", variant.name)
        self.folder.mkdir()
        self.port = _free_port()
        self.metrics_port = _free_port() if variant.read else None
        service = configs.Service(self.port, backends, variant.threads, variant.splice,
                                  self.folder, sessions, variant.limits, self.metrics_port)
        self.process = Process(self.name, _command(variant, service), cpus, self.folder)
        processes = variant.threads + 1 if variant.kind == "nginx" else 1
        try:
            self._wait_until_ready(processes)
            self.counters = Counters(self.process)
        except BaseException:
            self.close()
            raise

    def check(self) -> None:
        self.process.check()

    def close(self) -> None:
        self.process.stop()
        shutil.rmtree(self.folder)

    def __enter__(self) -> Proxy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _wait_until_ready(self, processes: int, patience: float = 10) -> None:
        end = time.monotonic() + patience
        while time.monotonic() < end:
            self.process.check()
            if self._listens() and len(self.process.pids()) >= processes:
                return
            time.sleep(0.02)
        raise BenchError(f"{self.name} was not ready within {patience:.0f} s")

    def _listens(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False


def find(kind: str) -> str | None:
    """Where the distribution's proxy is; /usr/sbin is not on everybody's path."""
    return shutil.which(kind) or shutil.which(kind, path="/usr/sbin:/usr/local/sbin")


def _command(variant: Variant, service: configs.Service) -> list[str]:
    """Writes the configuration and says how to run with it, in the foreground."""
    file = service.folder / "config"
    if variant.kind == "weir":
        file.write_text(configs.weir(service))
        return [variant.program, "-c", str(file)]
    if variant.kind == "haproxy":
        file.write_text(configs.haproxy(service))
        return [variant.program, "-db", "-f", str(file)]
    file.write_text(configs.nginx(service, _nginx_modules(variant.program)))
    return [variant.program, "-p", str(service.folder), "-c", str(file), "-e", "stderr"]


def _nginx_modules(program: str) -> str:
    result = subprocess.run([program, "-V"], capture_output=True, text=True, check=False)
    match = re.search(r"--modules-path=(\S+)", result.stderr)
    if match is None:
        raise BenchError("nginx -V names no --modules-path")
    return match[1]


def _free_port() -> int:
    """Below the ephemeral ports, so that no connection of the load takes it meanwhile."""
    ephemeral = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    for _ in range(100):
        port = random.randrange(10_000, int(ephemeral[0]))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise BenchError("found no free port")
