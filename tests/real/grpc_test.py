#!/usr/bin/python3
"""gRPC through weir: every kind of call, large messages, many connections, two servers."""

from __future__ import annotations

import hashlib
import os
import queue
import random
import sys
import unittest
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from typing import ClassVar

# The tests start processes while channels exist; gRPC's own handling of fork would wait for them.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"

import grpc  # noqa: E402

import ports  # noqa: E402
from child import Child  # noqa: E402
from deadline import PATIENCE, wait_until  # noqa: E402
from grpc_echo_server import MESSAGE_OPTIONS, SERVICE  # noqa: E402
from harness import RealTest  # noqa: E402
from weir_config import Config, Listener, Pool  # noqa: E402

_SEED = 11  # of the payloads; any will do
_SERVER = Path(__file__).with_name("grpc_echo_server.py")


class EchoServer:
    def __init__(self, name: str, folder: Path) -> None:
        self._name = name
        self._log = folder / f"{name}.log"
        self._port = ports.free_port()
        self.address = f"127.0.0.1:{self._port}"
        self.start()

    def start(self) -> None:
        argv = [sys.executable, str(_SERVER), str(self._port), self._name]
        self.child = Child(argv, self._log)
        wait_until(lambda: ports.is_listening(self.address), f"gRPC server {self._name} to listen")

    def stop(self) -> None:
        code = self.child.stop()
        if code != 0:
            raise AssertionError(f"gRPC server's exit code is {code}\n{self.child.tail()}")


class Channel:
    """One connection of its own: channels to the same address would share one."""

    def __init__(self, port: int) -> None:
        options = [*MESSAGE_OPTIONS, ("grpc.use_local_subchannel_pool", 1)]
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}", options)

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def call(self, method: str, request: bytes) -> bytes:
        unary = self._channel.unary_unary(f"/{SERVICE}/{method}")
        # wait_for_ready: a connection lost between two calls is made again, not reported.
        return unary(request, timeout=PATIENCE, wait_for_ready=True)

    def count(self, messages: int, size: int) -> Iterator[bytes]:
        stream = self._channel.unary_stream(f"/{SERVICE}/Count")
        return stream(b"%d %d" % (messages, size), timeout=PATIENCE)

    def digest(self, pieces: Iterator[bytes]) -> bytes:
        return self._channel.stream_unary(f"/{SERVICE}/Digest")(pieces, timeout=PATIENCE)

    def talk(self, words: Iterator[bytes]) -> Iterator[bytes]:
        return self._channel.stream_stream(f"/{SERVICE}/Talk")(words, timeout=PATIENCE)


class GrpcTest(RealTest):
    server_a: ClassVar[EchoServer]
    server_b: ClassVar[EchoServer]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        for name in ("a", "b"):
            server = EchoServer(name, cls.class_folder)
            setattr(cls, f"server_{name}", server)
            cls.addClassCleanup(server.stop)
            cls.servers.append(server)

    def _config(self, bind: str) -> Config:
        backends = {"a": self.server_a.address, "b": self.server_b.address}
        return Config([Listener("front", bind, "echo")], [Pool("echo", backends)])

    def test_unary_call_returns_what_was_sent(self) -> None:
        bind, port = self.local()
        self.start_weir(self._config(bind))
        payloads = random.Random(_SEED)
        with Channel(port) as channel:
            for size in (0, 1, 1000, 16_384, 3_000_000):
                payload = payloads.randbytes(size)
                self.assertEqual(channel.call("Echo", payload), payload)

    def test_server_stream_arrives_complete_and_in_order(self) -> None:
        bind, port = self.local()
        self.start_weir(self._config(bind))
        with Channel(port) as channel:
            for messages, size in ((2000, 100), (20, 2_000_000)):
                received = 0
                for number, message in enumerate(channel.count(messages, size)):
                    self.assertEqual(message, number.to_bytes(4, "big") * (size // 4))
                    received += 1
                self.assertEqual(received, messages)

    def test_client_stream_of_large_messages_arrives_exactly(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(self._config(bind))
        payloads = random.Random(_SEED)
        pieces = [payloads.randbytes(8 << 20) for _ in range(4)]
        with Channel(port) as channel:
            answer = channel.digest(iter(pieces))
        self.assertEqual(answer, hashlib.sha256(b"".join(pieces)).digest())
        self.assertGreater(weir.wait_for_sessions(1)[0]["bytes_in"], 4 * (8 << 20))

    def test_conversation_alternates_word_by_word(self) -> None:
        bind, port = self.local()
        self.start_weir(self._config(bind))
        with Channel(port) as channel:
            self._converse(channel, 1000)

    def _converse(self, channel: Channel, rounds: int) -> None:
        heard: list[bytes] = []
        answered: queue.SimpleQueue[None] = queue.SimpleQueue()

        def words() -> Iterator[bytes]:
            for number in range(rounds):
                yield b"word %d" % number
                # Speaks again only after the answer: one message at a time is in flight.
                answered.get(timeout=PATIENCE)

        for answer in channel.talk(words()):
            heard.append(answer)
            answered.put(None)
        self.assertEqual(heard, [(b"word %d" % number)[::-1] for number in range(rounds)])

    def test_concurrent_channels_do_not_mix(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(self._config(bind))
        channels = 16

        def work(number: int) -> None:
            payload = random.Random(number).randbytes(200_000)
            with Channel(port) as channel:
                self._converse(channel, 20)
                for _ in range(10):
                    self.assertEqual(channel.call("Echo", payload), payload)
                self.assertEqual(channel.digest(iter([payload])), hashlib.sha256(payload).digest())

        _in_parallel(work, channels)
        self.assertEqual(len(weir.wait_for_sessions(channels)), channels)

    def test_channels_are_spread_over_two_servers(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(self._config(bind))
        channels = 24

        def work(_number: int) -> str:
            with Channel(port) as channel:
                return channel.call("Who", b"").decode()

        served = Counter(_in_parallel(work, channels))
        weir.wait_for_sessions(channels)
        self.assertEqual(set(served), {"a", "b"})
        backends = weir.stop()["pools"][0]["backends"]
        dialled = Counter({b["name"]: b["totals"]["connected"] for b in backends})
        # A channel under load now and then gives its first connection up and makes another.
        self.assertEqual(served - dialled, Counter())
        self.assertEqual(dialled, Counter(session["backend"] for session in weir.sessions()))
        # Dealt in turn; a worker may deal for itself, so that shares differ by one a worker.
        self.assertLessEqual(abs(dialled["a"] - dialled["b"]), 2)

    def test_channels_of_a_stopped_server_go_on_with_the_other(self) -> None:
        bind, port = self.local()
        weir = self.start_weir(self._config(bind))
        channels = [Channel(port) for _ in range(6)]
        before = Counter(channel.call("Who", b"") for channel in channels)
        self.assertEqual(set(before), {b"a", b"b"})
        self.server_a.stop()
        after = Counter(channel.call("Who", b"") for channel in channels)
        self.assertEqual(after, {b"b": 6})
        self.server_a.start()
        for channel in channels:
            channel.__exit__()
        ended = weir.wait_for_sessions(len(channels) + before[b"a"])
        self.assert_ended_as(
            ended, "client_closed", "backend_closed", "client_reset", "backend_reset"
        )
        refused = [each for each in ended if each["attempts"][0]["outcome"] == "refused"]
        self.assertTrue(all(each["backend"] == "b" for each in refused))


def _in_parallel(work: Callable[[int], object], count: int) -> list:
    """Each call in a thread of its own; the first failure is raised here."""
    with futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
