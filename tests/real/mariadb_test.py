#!/usr/bin/python3
"""MariaDB through weir, whose server speaks first: silent clients, sysbench, large results."""

from __future__ import annotations

import re
import socket
import unittest
from typing import ClassVar

import digest
from child import run, run_unchecked
from deadline import PATIENCE, wait_until
from harness import RealTest
from mariadb_server import USER, MariadbServer, mariadb, query
from weir_config import single

_PROTOCOL_VERSION = 10  # the first byte of the server's greeting, behind a header of four


class MariadbTest(RealTest):
    server: ClassVar[MariadbServer]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.server = MariadbServer(cls.class_folder / "maria")
        cls.addClassCleanup(cls.server.stop)
        cls.servers.append(cls.server)

    def test_clients_that_say_nothing_are_greeted(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        count = 60
        silent = [socket.create_connection(("127.0.0.1", port), PATIENCE) for _ in range(count)]
        for client in silent:
            with client, client.makefile("rb") as greeting:
                header = greeting.read(4)
                body = greeting.read(int.from_bytes(header[:3], "little"))
                self.assertEqual(body[0], _PROTOCOL_VERSION)
        for session in weir.wait_for_sessions(count):
            self.assertGreater(session["bytes_out"], 4)
            self.assertEqual(session["bytes_in"], 0)

    def test_sysbench_loses_no_transaction(self) -> None:
        bind, port = self.local()
        self.start_weir(single(bind, self.server.address))
        query(self.server.port, "CREATE DATABASE sbtest")
        where = ["--mysql-host=127.0.0.1", f"--mysql-port={port}", f"--mysql-user={USER}"]
        tables = ["--tables=2", "--table-size=2000", "--rand-seed=1"]
        sysbench = ["sysbench", "oltp_read_write", *where, *tables]
        run([*sysbench, "prepare"])
        events = 600
        output = run([*sysbench, "--threads=6", f"--events={events}", "--time=0", "run"])
        done = re.search(r"total number of events: +(\d+)", output)
        assert done is not None, output
        self.assertEqual(int(done[1]), events)
        run([*sysbench, "cleanup"])

    def test_clients_that_connect_again_after_every_fifth_query(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        slap = ["mariadb-slap", "--no-defaults", "-h", "127.0.0.1", "-P", str(port), "-u", USER]
        clients, queries = 6, 1200
        load = [f"--concurrency={clients}", f"--number-of-queries={queries}", "--detach=5"]
        run([*slap, *load, "--create-schema=mysql", "--query=SELECT REPEAT('x', 20000)"])
        weir.wait_for_sessions(queries // 5)
        # How often it connects is its own affair; the answers are so many.
        wait_until(lambda: sum(session["bytes_out"] for session in weir.sessions()) >
                   queries * 20_000, "all answers are in the log")
        self.assert_ended_as(weir.sessions(), "client_closed", "backend_closed")

    def test_result_of_100_megabytes_is_exact(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        sql = "SELECT seq, REPEAT(MD5(seq), 32) FROM seq_1_to_100000"
        select = ["mysql", "-e", sql]
        direct = digest.of_output(mariadb(self.server.port, *select))
        self.assertGreater(direct[0], 100_000_000)
        self.assertEqual(digest.of_output(mariadb(port, *select)), direct)
        self.assertGreaterEqual(weir.wait_for_sessions(1)[0]["bytes_out"], direct[0])

    def test_client_killed_in_the_middle_of_a_result_frees_its_session(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        # Far more than the sockets' buffers hold, from a client that never reads.
        sql = b"\x03SELECT seq, REPEAT(MD5(seq), 32) FROM mysql.seq_1_to_100000"
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
            _log_in(client)
            client.sendall(len(sql).to_bytes(3, "little") + b"\0" + sql)
            self.assertTrue(client.recv(1))
        # Closed with unread input: the client's system answers with a reset.
        session = weir.wait_for_sessions(1)[0]
        self.assertEqual(session["reason"], "client_reset")
        self.assertLess(session["bytes_out"], 100_000_000)

    def test_server_stopped_and_started_again(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        self.server.stop()
        refused = run_unchecked(mariadb(port, "-e", "SELECT 1"))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("Lost connection to server", refused.stderr)
        self.assert_ended_as(weir.wait_for_sessions(1), "upstream_connect_failed")

        self.server.start()
        self.assertEqual(query(port, "SELECT 'first'"), "first")
        self.assert_ended_as(weir.wait_for_sessions(2)[1:], "client_closed", "backend_closed")


def _log_in(client: socket.socket) -> None:
    """Answers the greeting as a user without a password and waits for the server's OK."""
    with client.makefile("rb") as messages:
        greeting = messages.read(4)
        messages.read(int.from_bytes(greeting[:3], "little"))
        protocol_41, secure, plugin = 0x200, 0x8000, 0x80000
        flags = (protocol_41 | secure | plugin).to_bytes(4, "little")
        largest, utf8 = (1 << 24).to_bytes(4, "little"), b"\x21"
        body = flags + largest + utf8 + bytes(23) + USER.encode() + b"\0\0mysql_native_password\0"
        client.sendall(len(body).to_bytes(3, "little") + b"\1" + body)
        answer = messages.read(5)
        if answer[4:] != b"\0":
            raise AssertionError(f"MariaDB refused: {answer + messages.peek()!r}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
