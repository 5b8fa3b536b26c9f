"""A fresh MariaDB in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import ports
from child import Child, owned_folder, run, run_unchecked
from deadline import wait_until

_ACCOUNT = "mysql"  # the server refuses root
USER = "root"  # within the database, without a password


class MariadbServer:
    def __init__(self, folder: Path) -> None:
        self._folder = owned_folder(folder, _ACCOUNT)
        self.port = ports.free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._data = folder / "data"
        install = ["mariadb-install-db", "--no-defaults", f"--datadir={self._data}"]
        options = ["--auth-root-authentication-method=normal", "--skip-test-db"]
        made = Child([*install, *options], folder / "install.log", _ACCOUNT)
        wait_until(lambda: not made.is_running(), "mariadb-install-db", 180)
        if made.stop() != 0:
            raise AssertionError(made.tail())
        self.start()

    def start(self) -> None:
        settings = {
            "datadir": self._data,
            "port": self.port,
            "bind-address": "127.0.0.1",
            "socket": self._folder / "mariadb.sock",
            "pid-file": self._folder / "mariadb.pid",
            # Clients that leave after the greeting are part of the tests, not an attack.
            "max-connect-errors": 1_000_000,
            "innodb-flush-log-at-trx-commit": 0,  # the data is thrown away
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        argv = ["/usr/sbin/mariadbd", "--no-defaults", *options, "--skip-name-resolve"]
        self.child = Child(argv, self._folder / "mariadb.log", _ACCOUNT)
        wait_until(self._is_ready, "MariaDB to answer")

    def _is_ready(self) -> bool:
        if not self.child.is_running():
            raise AssertionError(self.child.tail())
        return run_unchecked(mariadb(self.port, "-e", "SELECT 1")).returncode == 0

    def stop(self) -> None:
        code = self.child.stop()
        if code != 0:
            raise AssertionError(f"MariaDB's exit code is {code}\n{self.child.tail()}")


def mariadb(port: int, *options: str) -> list[str]:
    """The command line of the client, reading no option file, streaming its result."""
    settings = ["--no-defaults", "--batch", "--quick", "--skip-column-names", "--protocol=tcp"]
    return ["mariadb", *settings, "-h", "127.0.0.1", "-P", str(port), "-u", USER, *options]


def query(port: int, sql: str) -> str:
    return run(mariadb(port, "-e", sql)).strip()
