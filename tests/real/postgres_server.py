"""A fresh PostgreSQL cluster in a folder of its own."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import ports
from child import Child, owned_folder, run
from deadline import wait_until

USER = "postgres"  # the server refuses root
_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def program(name: str) -> str:
    """The path of a server program; Debian keeps them off PATH, one folder a version."""
    if not _PROGRAMS:
        raise RuntimeError("PostgreSQL is not installed (scripts/setup test)")
    return str(_PROGRAMS[-1] / name)


class PostgresServer:
    def __init__(self, folder: Path) -> None:
        self._folder = owned_folder(folder, USER)
        self.port = ports.free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.unix_address = f"unix:{self._folder}/.s.PGSQL.{self.port}"
        self._data = self._folder / "data"
        initdb = [program("initdb"), "-D", str(self._data), "-A", "trust", "-U", USER]
        made = Child(
            [*initdb, "-E", "UTF8", "--locale=C", "--no-sync"], folder / "initdb.log", USER
        )
        wait_until(lambda: not made.is_running(), "initdb")
        if made.stop() != 0:
            raise AssertionError(made.tail())
        self.start()

    def start(self) -> None:
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(self._folder),
            "fsync": "off",  # the data is thrown away
            "max_wal_size": "4GB",  # no checkpoint in the middle of a bulk load
        }
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        argv = [program("postgres"), "-D", str(self._data), "-p", str(self.port), *options]
        self.child = Child(argv, self._folder / "postgres.log", USER)
        wait_until(self._is_ready, "PostgreSQL to accept connections")

    def _is_ready(self) -> bool:
        if not self.child.is_running():
            raise AssertionError(self.child.tail())
        ready = [program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ready).returncode == 0

    def stop(self) -> None:
        """A fast shutdown: sessions are ended, the server is gone when this returns."""
        code = self.child.stop(signal.SIGINT)
        if code != 0:
            raise AssertionError(f"PostgreSQL's exit code is {code}\n{self.child.tail()}")

    def query(self, sql: str) -> str:
        """Asks the server itself, past any proxy."""
        return query(self.port, sql)


def psql(port: int, *options: str, host: str = "127.0.0.1") -> list[str]:
    """The command line of psql, reading no start-up file, failing at the first error."""
    settings = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
    return ["psql", *settings, "-h", host, "-p", str(port), "-U", USER, *options, "postgres"]


def query(port: int, sql: str, host: str = "127.0.0.1") -> str:
    return run([*psql(port, "-c", sql, host=host)]).strip()
