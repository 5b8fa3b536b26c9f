"""A fresh MariaDB in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import ports
from child import Child, owned_folder, run, run_unchecked
from deadline import wait_until

_ACCOUNT = "mysql"  # the server refuses root
USER = "root"  # within the database, without a password
LOOPBACK = "127.0.0.1"

_CLIENT = ["mariadb", "--no-defaults", "--batch", "--quick", "--skip-column-names"]


class MariadbServer:
    def __init__(
        self,
        folder: Path,
        *,
        host: str = LOOPBACK,
        # Clients that leave after the greeting are part of most tests, not an attack.
        max_connect_errors: int = 1_000_000,
        resolve_names: bool = False,  # the server bans only hosts that it has looked up
    ) -> None:
        self._folder = owned_folder(folder, _ACCOUNT)
        self._host = host
        self._max_connect_errors = max_connect_errors
        self._resolve_names = resolve_names
        self._socket = self._folder / "mariadb.sock"
        self.port = ports.free_port()
        self.address = f"{host}:{self.port}"
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
            "bind-address": self._host,
            "socket": self._socket,
            "pid-file": self._folder / "mariadb.pid",
            "max-connect-errors": self._max_connect_errors,
            "innodb-flush-log-at-trx-commit": 0,  # the data is thrown away
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        if not self._resolve_names:
            options.append("--skip-name-resolve")
        argv = ["/usr/sbin/mariadbd", "--no-defaults", *options]
        self.child = Child(argv, self._folder / "mariadb.log", _ACCOUNT)
        wait_until(self._is_ready, "MariaDB to answer")

    def _is_ready(self) -> bool:
        if not self.child.is_running():
            raise AssertionError(self.child.tail())
        return run_unchecked(self._administrator("SELECT 1")).returncode == 0

    def administer(self, sql: str) -> str:
        """Through the server's unix socket, where it counts no host's errors."""
        return run(self._administrator(sql)).strip()

    def _administrator(self, sql: str) -> list[str]:
        return [*_CLIENT, "--protocol=socket", "-S", str(self._socket), "-u", USER, "-e", sql]

    def stop(self) -> None:
        code = self.child.stop()
        if code != 0:
            raise AssertionError(f"MariaDB's exit code is {code}\n{self.child.tail()}")


def mariadb(port: int, *options: str, host: str = LOOPBACK, user: str = USER) -> list[str]:
    """The command line of the client, reading no option file, streaming its result."""
    return [*_CLIENT, "--protocol=tcp", "-h", host, "-P", str(port), "-u", user, *options]


def query(port: int, sql: str) -> str:
    return run(mariadb(port, "-e", sql)).strip()
