#!/usr/bin/python3
"""Redis through weir: its benchmark with and without pipelining, subscribers, large values."""

from __future__ import annotations

import hashlib
import random
import re
import threading
import unittest
from typing import ClassVar

from child import run
from harness import RealTest
from redis_server import RedisServer
from redis_wire import Redis
from weir_config import single

_SEED = 7  # of the values; any will do


class RedisTest(RealTest):
    server: ClassVar[RedisServer]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.server = RedisServer(cls.class_folder / "redis")
        cls.addClassCleanup(cls.server.stop)
        cls.servers.append(cls.server)

    def _calls(self) -> dict[str, int]:
        """How often the server itself has executed each command."""
        told = run(["redis-cli", "-p", str(self.server.port), "INFO", "commandstats"])
        return {name: int(count) for name, count in re.findall(r"cmdstat_(\w+):calls=(\d+)", told)}

    def _benchmark(self, port: int, requests: int, *options: str) -> None:
        before = self._calls()
        tests = ["-t", "set,get,lpush", "-d", "200", "-c", "40", "-n", str(requests)]
        run(["redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-q", *tests, *options])
        after = self._calls()
        # redis-benchmark reports success whatever was lost on the way; the server knows. With
        # pipelining the last batch may exceed what was asked for.
        for command in ("set", "get", "lpush"):
            executed = after.get(command, 0) - before.get(command, 0)
            self.assertGreaterEqual(executed, requests, command)

    def test_benchmark_request_by_request(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        self._benchmark(port, 15_000)
        self.assert_ended_as(weir.sessions(), "client_closed", "client_reset")

    def test_benchmark_with_16_requests_in_flight_on_each_connection(self) -> None:
        bind, port = self.local()
        self.start_weir(single(bind, self.server.address))
        self._benchmark(port, 80_000, "-P", "16")

    def test_benchmark_with_a_new_connection_for_each_request(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        self._benchmark(port, 1_500, "-k", "0")
        self.assertGreaterEqual(len(weir.wait_for_sessions(4_500)), 4_500)

    def test_subscriber_receives_every_message_in_order(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        count = 20_000
        subscriber, publisher = Redis(port), Redis(port)
        self.assertEqual(subscriber.ask(b"SUBSCRIBE", b"news"), [b"subscribe", b"news", 1])
        messages = [b"message %d" % number for number in range(count)]
        sending = threading.Thread(
            target=publisher.send, args=[(b"PUBLISH", b"news", each) for each in messages]
        )
        sending.start()
        received = [subscriber.reply() for _ in messages]
        sending.join()
        self.assertEqual(received, [[b"message", b"news", each] for each in messages])
        self.assertEqual([publisher.reply() for _ in messages], [1] * count)
        subscriber.close()
        publisher.close()
        self.assert_ended_as(weir.wait_for_sessions(2), "client_closed")

    def test_value_of_64_megabytes_is_stored_and_returned_exactly(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(single(bind, self.server.address))
        value = random.Random(_SEED).randbytes(64_000_000)
        client = Redis(port)
        self.assertEqual(client.ask(b"SET", b"large", value), b"OK")
        answer = client.ask(b"GET", b"large")
        assert isinstance(answer, bytes)
        self.assertEqual(hashlib.sha256(answer).digest(), hashlib.sha256(value).digest())
        client.ask(b"DEL", b"large")
        client.close()
        session = weir.wait_for_sessions(1)[0]
        self.assertGreater(session["bytes_in"], len(value))
        self.assertGreater(session["bytes_out"], len(value))


if __name__ == "__main__":
    unittest.main(verbosity=2)
