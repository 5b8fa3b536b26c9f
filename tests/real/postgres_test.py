#!/usr/bin/python3
"""PostgreSQL through weir: its own load generator, bulk copies, silent listeners, restarts."""

from __future__ import annotations

import re
import time
import unittest
from typing import ClassVar

import digest
from child import run, run_unchecked
from harness import RealTest
from postgres_server import USER, PostgresServer, psql, query
from postgres_wire import Listening
from weir_config import single

_IDLE = 2.0  # seconds; the shortest that leaves a loaded machine room for ticks of a quarter of it


class PostgresTest(RealTest):
    server: ClassVar[PostgresServer]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.server = PostgresServer(cls.class_folder / "pg")
        cls.addClassCleanup(cls.server.stop)
        cls.servers.append(cls.server)

    def test_pgbench_loses_no_transaction_on_kept_and_on_new_connections(self) -> None:
        bind, port = self.local()
        self.start_weir(single(bind, self.server.address))
        pgbench = ["pgbench", "-h", "127.0.0.1", "-p", str(port), "-U", USER]
        run([*pgbench, "-i", "-q", "-s", "4", "postgres"])
        loads: list[tuple[int, int, list[str]]] = [(8, 150, []), (8, 25, ["-C"])]
        for clients, each, options in loads:
            output = run(
                [
                    *pgbench,
                    "-n",
                    "-c",
                    str(clients),
                    "-j",
                    "2",
                    "-t",
                    str(each),
                    *options,
                    "postgres",
                ]
            )
            done = re.search(r"actually processed: (\d+)/(\d+)", output)
            assert done is not None, output
            self.assertEqual((int(done[1]), int(done[2])), (clients * each, clients * each))
            self.assertIn("number of failed transactions: 0 ", output)
        sums = self.server.query(
            "SELECT (SELECT sum(abalance) FROM pgbench_accounts),"
            " (SELECT sum(tbalance) FROM pgbench_tellers), (SELECT sum(delta) FROM pgbench_history)"
        )
        self.assertEqual(len(set(sums.split("|"))), 1, f"balances differ: {sums}")

    def test_copy_of_200_megabytes_out_and_in_is_exact(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        rows = "SELECT i, repeat(md5(i::text), 32) AS filler FROM generate_series(1, 200000) AS i"
        self.server.query(f"CREATE UNLOGGED TABLE big AS {rows}")
        self.server.query("CREATE UNLOGGED TABLE again (LIKE big)")
        copy_out = "COPY big TO STDOUT"
        size, direct = digest.of_output(psql(self.server.port, "-c", copy_out))
        file = self.folder / "big.copy"
        self.assertEqual(digest.of_output(psql(port, "-c", copy_out), file), (size, direct))
        self.assertGreater(size, 200_000_000)

        run(psql(port, "-c", f"\\copy again FROM '{file}'"))
        stored = digest.of_output(psql(self.server.port, "-c", "COPY again TO STDOUT"))
        self.assertEqual(stored, (size, direct))
        out, into = weir.wait_for_sessions(2)
        self.assertGreaterEqual(out["bytes_out"], size)
        self.assertGreaterEqual(into["bytes_in"], size)

    def test_idle_counts_both_directions_so_a_listener_that_only_receives_stays(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address, idle=f"{_IDLE:g}s"))
        listening = Listening(port, USER, "ticks")
        count, pace = 14, 0.5  # more than 3 times idle
        began = time.monotonic()
        # The server keeps the pace, past weir.
        self.server.query(
            f"DO $$ BEGIN FOR i IN 1..{count} LOOP PERFORM pg_notify('ticks', i::text); COMMIT;"
            f" PERFORM pg_sleep({pace}); END LOOP; END $$"
        )
        received = [listening.next_payload() for _ in range(count)]
        self.assertEqual(received, [str(number) for number in range(1, count + 1)])

        # The control: without traffic the same session ends, and not before its time.
        self.assertEqual(listening.read_end(), b"")
        self.assertGreater(time.monotonic() - began, (count - 1) * pace + _IDLE)
        self.assert_ended_as(weir.wait_for_sessions(1), "idle_timeout")
        listening.close()

    def test_unix_sockets_on_both_sides(self) -> None:
        port = 5432  # part of the socket's name only, as psql expects it
        bind = f"unix:{self.folder}/.s.PGSQL.{port}"
        weir = self.start_weir(single(bind, self.server.unix_address))
        sql = "SELECT coalesce(inet_client_addr()::text, 'unix'), length(repeat('x', 1000000))"
        self.assertEqual(query(port, sql, host=str(self.folder)), "unix|1000000")
        self.assert_ended_as(weir.wait_for_sessions(1), "client_closed", "backend_closed")

    def test_server_stopped_and_started_again(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        held = Listening(port, USER, "ticks")
        self.server.stop()
        farewell = held.read_end()
        self.assertIn(b"terminating connection", farewell)
        held.close()
        self.assert_ended_as(weir.wait_for_sessions(1), "backend_closed", "backend_reset")

        while_down = time.monotonic()
        refused = run_unchecked(psql(port, "-c", "SELECT 1"))
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("server closed the connection unexpectedly", refused.stderr)
        # A refused dial takes no time: far below connect's 5s, however loaded the machine.
        self.assertLess(time.monotonic() - while_down, 4.0)
        self.assert_ended_as(weir.wait_for_sessions(2)[1:], "upstream_connect_failed")

        self.server.start()
        self.assertEqual(query(port, "SELECT 'first'"), "first")
        self.assert_ended_as(weir.wait_for_sessions(3)[2:], "client_closed", "backend_closed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
