#!/usr/bin/python3
"""Active checks of a MariaDB that bans hosts: however many there are, they are not held against weir.

MariaDB counts the errors of hosts that are not on loopback and that it could look up."""

from __future__ import annotations

import socket
import subprocess
import unittest
from typing import ClassVar

import namespace
from child import run_unchecked
from deadline import PATIENCE, wait_until
from harness import RealTest
from mariadb_server import LOOPBACK, MariadbServer, mariadb
from weir_config import Config, Listener, Pool

_ADDRESS = "198.51.100.1"  # for documentation (RFC 5737): nobody's
_USER = "guest"
_MAX_CONNECT_ERRORS = 5
_CHECKS = 300


class MariadbHealthTest(RealTest):
    server: ClassVar[MariadbServer]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        namespace.add_host(_ADDRESS, "client.example")
        cls.server = MariadbServer(
            cls.class_folder / "maria",
            host=_ADDRESS,
            max_connect_errors=_MAX_CONNECT_ERRORS,
            resolve_names=True,
        )
        cls.addClassCleanup(cls.server.stop)
        cls.servers.append(cls.server)
        cls.server.administer(f"CREATE USER {_USER}@'client.example'")

    def test_300_checks_are_no_reason_to_ban_their_host(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(_checking(bind, self.server.address))
        wait_until(lambda: namespace.resets_of_openings() >= _CHECKS, f"{_CHECKS} checks")
        self._log_in(_ADDRESS, self.server.port)
        self._log_in(LOOPBACK, port)  # and through weir, which dials from the same address

        backend = weir.stop()["pools"][0]["backends"][0]
        self.assertEqual(backend["health"]["state"], "healthy")
        self.assertEqual(list(backend["health"]["checks"]), ["connected"])
        self.assertGreaterEqual(backend["health"]["checks"]["connected"], _CHECKS)
        self.assertEqual(backend["totals"]["connected"], 1)
        self.assertEqual(backend["totals"]["failures"], {})

    def test_as_many_silent_ends_as_the_server_allows_ban_their_host(self) -> None:
        """Without this the test above would prove nothing."""
        self.server.administer("FLUSH HOSTS")
        for _ in range(_MAX_CONNECT_ERRORS + 1):
            _connect_and_end(self.server.port)
        refused = wait_until(
            lambda: self._try_to_log_in(_ADDRESS, self.server.port).stderr, "a refusal"
        )
        self.assertIn("is blocked because of many connection errors", refused)
        self.server.administer("FLUSH HOSTS")

    def _log_in(self, host: str, port: int) -> None:
        done = self._try_to_log_in(host, port)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), f"{_USER}@client.example")

    def _try_to_log_in(self, host: str, port: int) -> subprocess.CompletedProcess[str]:
        return run_unchecked(mariadb(port, "-e", "SELECT USER()", host=host, user=_USER))


def _checking(bind: str, address: str) -> Config:
    pool = Pool(
        "servers",
        {"only": address},
        resilience={"circuit_enabled": False},
        health={"interval": "20ms", "timeout": "20s"},
    )
    return Config([Listener("front", bind, "servers")], [pool])


def _connect_and_end(port: int) -> None:
    """Reads the greeting and goes in good order."""
    with socket.create_connection((_ADDRESS, port), PATIENCE) as client:
        client.recv(1000)


if __name__ == "__main__":
    namespace.enter()
    unittest.main(verbosity=2)
