#!/usr/bin/python3
"""weir under control: every endpoint, every command, every hint, and operators who are a burden."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
import unittest
from pathlib import Path

from admin_api import Admin
from deadline import wait_until
from echo_server import EchoServer
from harness import RealTest
from weir_config import Config, Listener, Pool
from weir_process import Weir

_SESSIONS = 4000
_MOST_ADDED = 0.020  # seconds, to the slowest percent of requests


class Client:
    """One session through weir."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self) -> float:
        """How long one byte there and back takes."""
        begun = time.monotonic()
        self._socket.sendall(b"x")
        if self._socket.recv(1) != b"x":
            raise ConnectionError("no echo")
        return time.monotonic() - begun

    def served(self) -> bool:
        try:
            self.ask()
        except OSError:
            return False
        return True

    def close(self) -> None:
        self._socket.close()


class ControlTest(RealTest):
    def setUp(self) -> None:
        self.a = self._server()
        self.b = self._server()

    def _server(self) -> EchoServer:
        server = EchoServer()
        self.addCleanup(server.stop)
        return server

    def _start(self, **pool: object) -> tuple[Weir, Admin, int]:
        bind, port = self.local()
        backends = {"a": self.a.address, "b": self.b.address}
        servers = Pool("servers", backends, balance="first", **pool)  # type: ignore[arg-type]
        self.config = Config([Listener("front", bind, "servers")], [servers], shutdown_deadline="1s")
        weir = self.start_weir(self.config)
        folder = self.folder / f"weir{len(self._weirs) - 1}"
        return weir, Admin(folder / "admin.sock"), port

    def _client(self, port: int) -> Client:
        client = Client(port)
        self.addCleanup(client.close)
        return client

    def test_every_endpoint_answers(self) -> None:
        weir, admin, port = self._start()
        client = self._client(port)
        client.ask()
        self.assertEqual(admin.get("/v1/status")["pid"], weir.pid)
        for target in ("/v1/health", "/v1/listeners", "/v1/pools", "/v1/config"):
            self.assertTrue(admin.get(target))
        self.assertEqual(admin.get("/v1/pools/servers")["admission"]["active"], 1)
        self.assertEqual(admin.get("/v1/pools/servers/backends/a")["active"], 1)
        [session] = admin.get("/v1/sessions?pool=servers&backend=servers/a&listener=front&limit=9")[
            "sessions"
        ]
        self.assertEqual(session["attempts"][0]["outcome"], "connected")
        self.assertEqual(admin.get(f"/v1/sessions/{session['id']}")["bytes_in"], 1)
        self.assertEqual(admin.get("/v1/why?pool=servers")["verdict"], "ok")
        self.assertEqual(admin.post("/v1/plan")["errors"], [])
        self.assertEqual(admin.post("/v1/reload")["config_generation"], 2)
        backend = "/v1/pools/servers/backends/b"
        for order, state in (("disable", "disabled"), ("drain", "draining"), ("enable", "available")):
            self.assertEqual(admin.post(f"{backend}/{order}")["state"], state)
        for order, phase in (
            ("open", "open"),
            ("close", "closed"),
            ("bypass", "closed"),
            ("auto", "closed"),
        ):
            circuit = admin.post(f"{backend}/circuit/{order}")["circuit"]
            self.assertEqual(circuit["phase"], phase)
            self.assertEqual(circuit["bypassed"], order == "bypass")
        kinds = {event["kind"] for event in admin.get("/v1/events?since=0")["events"]}
        self.assertLessEqual({"reload", "disable", "drain", "enable", "circuit"}, kinds)
        self.assertIn("weir_pool_active_requests", admin.text("GET", "/metrics")[1])
        self.assertEqual(admin.text("GET", "/healthz"), (200, "serving\n"))
        self.assertEqual(admin.call("DELETE", f"/v1/sessions/{session['id']}"), {"closed": 1})
        self.assertFalse(client.served())
        self.assertEqual(admin.call("DELETE", "/v1/sessions?backend=servers/a"), {"closed": 0})
        self.assertEqual(admin.text("GET", "/v1/nothing")[0], 404)
        self.assertEqual(admin.text("POST", "/v1/status")[0], 405)
        status, text = admin.text("POST", "/v1/reload", "workers: many\n")
        self.assertEqual(status, 409)
        self.assertIn("workers", {error["path"] for error in json.loads(text)["errors"]})
        admin.post("/v1/shutdown")
        wait_until(lambda: not weir.child.is_running(), "weir to end")
        self.assert_ended_as(weir.sessions(), "killed", "client_closed", "client_reset")

    def test_every_command_of_weirctl(self) -> None:
        weir, admin, port = self._start()
        client = self._client(port)
        client.ask()
        file = self.folder / "next.yaml"
        text = self.config.yaml(self.folder / "weir0" / "access.log")
        file.write_text(text.replace("balance: first", "balance: least_connections"))
        session = str(admin.get("/v1/sessions")["sessions"][0]["id"])
        for words, shown in (
            ("status", str(weir.pid)),
            ("health", "servers"),
            ("listeners", "front"),
            ("pools", "servers"),
            ("backends servers", self.a.address),
            ("sessions", "relaying"),
            (f"plan {file}", "balance"),
            (f"reload {file}", "balance"),
            ("why servers", "eligible"),
            ("disable servers/b", "disabled"),
            ("drain servers/b --deadline 5s", "draining"),
            ("enable servers/b", "available"),
            ("circuit servers/b open", "open"),
            ("circuit servers/b close", "closed"),
            ("circuit servers/b bypass", "bypass"),
            ("circuit servers/b auto", "closed"),
            ("events", "generation 2"),
            ("config", "least_connections"),
            ("top --once", "servers"),
            ("--json status", '"pid"'),
            ("completion bash", "weirctl"),
            (f"kill {session}", "1"),
            ("kill --backend servers/a", "0"),
        ):
            with self.subTest(words):
                self.assertIn(shown, admin.ctl(*words.split()))
        self.assertIn("pools are servers", admin.ctl("why", "nobody", code=1))
        admin.ctl("frobnicate", code=2)
        self.assertFalse(client.served())
        admin.ctl("shutdown")
        wait_until(lambda: not weir.child.is_running(), "weir to end")

    def _assert_refused(self, admin: Admin, gate: str, state: str, backend: str = "a") -> str:
        told = admin.why("servers", backend)
        self.assertEqual((told["eligible"], told["gate"], told["state"]), (False, gate, state))
        self.assertTrue(told["hint"])
        return str(told["hint"])

    def _assert_eligible(self, admin: Admin, backend: str = "a") -> None:
        self.assertTrue(wait_until(lambda: admin.why("servers", backend)["eligible"], "eligibility"))

    def _do(self, admin: Admin, hint: str) -> None:
        """Runs the command that a hint names."""
        begin = hint.index("weirctl ") + len("weirctl ")
        words = hint[begin:].split("`")[0].split(",")[0].split(";")[0].split()[:3]
        admin.ctl(*words)

    def test_doing_what_a_hint_says_makes_the_backend_eligible(self) -> None:
        _, admin, _ = self._start()
        for order, state in (("disable", "disabled"), ("drain", "draining")):
            with self.subTest(order):
                admin.post(f"/v1/pools/servers/backends/a/{order}")
                self._do(admin, self._assert_refused(admin, "administrative", state))
                self._assert_eligible(admin)
        with self.subTest("forced open"):
            admin.post("/v1/pools/servers/backends/a/circuit/open")
            self._do(admin, self._assert_refused(admin, "circuit", "circuit_open"))
            self._assert_eligible(admin)

    def test_the_hint_of_a_weight_of_0_is_a_reload(self) -> None:
        weir, admin, _ = self._start()
        text = self.config.yaml(self.folder / "weir0" / "access.log")
        quoted = f'name: a, address: "{self.a.address}"'
        admin.post("/v1/reload", text.replace(quoted, quoted + ", weight: 0"))
        self.assertIn("weight", self._assert_refused(admin, "administrative", "disabled"))
        admin.post("/v1/reload", text)
        self._assert_eligible(admin)
        weir.stop()

    def test_the_hint_of_an_open_circuit_is_the_time_of_the_probe(self) -> None:
        _, admin, port = self._start(resilience={"max_fails": 1, "fail_timeout": "300ms"})
        self.a.refuse()
        self.assertTrue(self._client(port).served())  # by b
        told = admin.why("servers", "a")
        if not told["eligible"]:  # on a slow machine the time may be over
            self.assertEqual((told["gate"], told["state"]), ("circuit", "circuit_open"))
            self.assertIsNotNone(told["until"])
        self.a.accept()
        self._assert_eligible(admin)
        accepted = self.a.accepted
        self.assertTrue(self._client(port).served())
        self.assertEqual(self.a.accepted, accepted + 1)
        self.assertEqual(
            admin.get("/v1/pools/servers/backends/a")["circuit"]["phase"], "closed"
        )

    def test_the_hint_of_a_full_backend_is_a_higher_limit_or_an_end(self) -> None:
        _, admin, port = self._start(resilience={"max_active_per_backend": 1})
        client = self._client(port)
        client.ask()
        hint = self._assert_refused(admin, "capacity", "at_capacity")
        self.assertIn("max_active_per_backend", hint)
        text = self.config.yaml(self.folder / "weir0" / "access.log")
        limit = "max_active_per_backend: "
        admin.post("/v1/reload", text.replace(limit + "1", limit + "2"))
        self._assert_eligible(admin)

    def test_the_hint_of_an_unhealthy_backend_is_that_it_answers_again(self) -> None:
        health = {"interval": "50ms", "timeout": "50ms", "rise": 1, "fall": 1}
        _, admin, _ = self._start(health=health)
        self.a.refuse()
        wait_until(lambda: not admin.why("servers", "a")["eligible"], "a failed check")
        self._assert_refused(admin, "health", "health_unhealthy")
        self.a.accept()
        self._assert_eligible(admin)

    def test_operators_who_are_a_burden_are_none_to_clients(self) -> None:
        weir, admin, port = self._start(resilience={"circuit_enabled": False})
        clients = [self._client(port) for _ in range(_SESSIONS)]
        for client in clients:
            client.ask()
        quiet = self._slowest_percent(clients)
        over = threading.Event()
        listed: list[int] = []
        threads = [
            threading.Thread(target=self._list_sessions, args=(admin, over, listed)),
            threading.Thread(target=self._misbehave, args=(admin.path, over)),
        ]
        for thread in threads:
            thread.start()
        try:
            busy = min(self._slowest_percent(clients) for _ in range(3))
            begun = time.monotonic()
            self.assertEqual(admin.get("/v1/status")["sessions"], _SESSIONS)
            self.assertLess(time.monotonic() - begun, 10)
        finally:
            over.set()
            for thread in threads:
                thread.join()
        print(f"slowest percent: {quiet * 1e3:.1f} ms, with operators {busy * 1e3:.1f} ms")
        self.assertLess(busy, quiet + _MOST_ADDED)
        self.assertEqual(set(listed), {_SESSIONS})
        for client in clients:
            client.close()
        weir.wait_for_sessions(_SESSIONS)

    def _slowest_percent(self, clients: list[Client]) -> float:
        times = sorted(client.ask() for client in clients[:2000])
        return times[len(times) * 99 // 100]

    def _list_sessions(self, admin: Admin, over: threading.Event, listed: list[int]) -> None:
        while not over.is_set():
            try:
                listed.append(len(admin.get("/v1/sessions")["sessions"]))
            except Exception:  # noqa: BLE001: shown by what was listed
                listed.append(0)
                raise

    def _misbehave(self, path: Path, over: threading.Event) -> None:
        """100 that say nothing, 100 that say a byte a second, 100 that send a MiB."""
        with contextlib.ExitStack() as stack:
            slow: list[socket.socket] = []
            for number in range(300):
                client = stack.enter_context(socket.socket(socket.AF_UNIX))
                client.setblocking(False)
                with contextlib.suppress(OSError):
                    client.connect(str(path))
                    if number >= 200:
                        body = b"x" * (1 << 20)
                        head = f"POST /v1/plan HTTP/1.1\r\nHost: w\r\nContent-Length: {len(body)}\r\n\r\n"
                        client.send(head.encode() + body)
                    elif number >= 100:
                        slow.append(client)
            while not over.wait(1.0):
                for client in slow:
                    with contextlib.suppress(OSError):
                        client.send(b"G")


if __name__ == "__main__":
    unittest.main(verbosity=2)
