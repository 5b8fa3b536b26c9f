#!/usr/bin/python3
"""The dashboard in a real browser: what it shows, at which sizes, and what it does without weir."""

from __future__ import annotations

import re
import threading
import unittest
from pathlib import Path
from typing import Any, ClassVar

import ports
from browser import Browser
from deadline import wait_until
from harness import RealTest
from redis_server import RedisServer
from redis_wire import Redis
from weir_config import Config, Listener, Pool
from weir_process import binary

# What a page shows of a value that is not there.
_NOTHING = re.compile(r"undefined|NaN|null|Infinity|\[object|Invalid Date")
_LOOKS = [(360, 800, "light"), (360, 800, "dark"), (1280, 800, "light"), (1280, 800, "dark")]
# Names that would do something if they were markup; `/` is of the path.
_MARKUP = "<img id=evil src=x onerror=alert(1)>&amp;'\""


class Clients:
    """Some traffic, until the end of the block."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Clients:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(0.05):
            client = Redis(self._port)
            client.ask(b"PING")
            self._over.wait(0.05)
            client.close()


class DashboardTest(RealTest):
    redis: ClassVar[list[RedisServer]]
    browser: Browser

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.redis = []
        for name in ("redis-a", "redis-b"):
            server = RedisServer(cls.class_folder / name)
            cls.addClassCleanup(server.stop)
            cls.redis.append(server)
            cls.servers.append(server)

    def setUp(self) -> None:
        self.browser = Browser(self.folder / "browser")
        self.addCleanup(self.browser.close)
        self.bind, self.port = self.local()
        self.http, _ = self.local()

    def _config(self, broken: str = "") -> Config:
        backends = {
            "redis-a": self.redis[0].address,
            "redis-b": self.redis[1].address,
            "gone": broken or f"127.0.0.1:{ports.free_port()}",
        }
        pool = Pool(
            "orders",
            backends,
            resilience={"max_active_requests": 20, "fail_timeout": "2s"},
        )
        return Config([Listener("front", self.bind, "orders")], [pool], http=self.http)

    def _wait_for_text(self, *patterns: str) -> str:
        def text() -> str:
            shown = self.browser.text()
            return shown if all(re.search(each, shown) for each in patterns) else ""

        try:
            return wait_until(text, f"the page to show {patterns}")
        except AssertionError as missed:
            raise AssertionError(f"{missed}; it shows\n{self.browser.text()}") from missed

    def _places(self) -> Any:
        return self.browser.evaluate(
            "Array.from(document.querySelectorAll('.pool, .pool li, .pool dd, .pool figure, #events'))"
            ".map((each) => [each.offsetLeft, each.offsetTop, each.offsetWidth])"
        )

    def test_it_shows_what_goes_on_at_each_size_and_in_each_scheme(self) -> None:
        self.start_weir(self._config())
        shots = Path(binary()).parent / "dashboard"  # to be looked at after the test
        shots.mkdir(exist_ok=True)
        with Clients(self.port):
            for width, height, scheme in _LOOKS:
                with self.subTest(width=width, scheme=scheme):
                    self.browser.look(width, height, scheme)
                    self.browser.open(f"http://{self.http}/")
                    shown = self._wait_for_text(
                        "live, ", "redis-a", "redis-b", "gone", "circuit_open",
                        r"circuit open, [01]\.\d s left", "the last: refused",
                        "probe_failed", r"degraded", "front", r"new\n?\s*[1-9]\d*\.\d/s",
                        r"dial time\n?\s*\d+\.\d\d? ms", r"failures\n0\.[1-9]/s", r"active\n\d+ / 20",
                    )  # fmt: skip
                    self.assertIsNone(_NOTHING.search(shown), shown)
                    self.browser.screenshot(shots / f"{width}-{scheme}.png")
                    wide = self.browser.evaluate("document.documentElement.scrollWidth")
                    self.assertLessEqual(wide, width, "it scrolls sideways")
                    ground = self.browser.evaluate(
                        "getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]"
                    )
                    self.assertEqual(int(ground) < 128, scheme == "dark")
        self.assertEqual(self.browser.complaints, [])
        others = [
            each for each in self.browser.requests
            if not each.startswith((f"http://{self.http}/", "data:,"))
        ]  # fmt: skip
        self.assertEqual(others, [], "requests to somebody else")

    def test_nothing_moves_while_a_circuit_goes_through_its_phases(self) -> None:
        self.start_weir(self._config())
        with Clients(self.port):
            for width in (360, 1280):
                self.browser.look(width, 800, "light")
                self.browser.open(f"http://{self.http}/")
                self._wait_for_text("circuit_open", "probe_failed")
                before = self._places()
                seen: set[str] = set()

                def more() -> bool:
                    seen.add(self.browser.evaluate("document.querySelector('#events time').title"))
                    return len(seen) > 3

                wait_until(more, "two more probes and what came of them")
                self.assertEqual(self._places(), before)

    def test_text_that_looks_like_markup_is_shown_as_text(self) -> None:
        self.start_weir(self._config(f"unix:/{_MARKUP}"))
        self.browser.look(1280, 800, "light")
        self.browser.open(f"http://{self.http}/")
        self._wait_for_text(re.escape(_MARKUP))
        self.assertFalse(self.browser.evaluate("document.getElementById('evil') !== null"))
        self.assertEqual(self.browser.complaints, [])

    def test_it_says_that_weir_does_not_answer_and_goes_on_with_the_next(self) -> None:
        weir = self.start_weir(self._config())
        self.browser.look(360, 800, "light")
        self.browser.open(f"http://{self.http}/")
        with Clients(self.port):
            self._wait_for_text(rf"pid\n{weir.pid}\b", "consecutive_failures, the last: refused")
        weir.stop()
        shown = self._wait_for_text(r"weir does not answer since \d")
        self.assertIn("redis-a", shown, "what was known last stays")
        after = self.start_weir(self._config())
        shown = self._wait_for_text("live, ", rf"pid\n{after.pid}\b", "Nothing has happened yet")
        self.assertNotIn("does not answer", shown)
        self.assertIsNone(_NOTHING.search(shown), shown)
        # The browser itself tells of connections that it could not make.
        others = [each for each in self.browser.complaints if "ERR_" not in each]
        self.assertEqual(others, [])

    def test_it_tells_a_drain(self) -> None:
        weir = self.start_weir(self._config())
        client = Redis(self.port)
        client.ask(b"PING")
        self.browser.open(f"http://{self.http}/")
        self._wait_for_text(r"state\nserving")
        weir.begin_to_stop()
        self._wait_for_text(r"state\ndraining")
        client.close()
        wait_until(lambda: not weir.child.is_running(), "the drain to end")


if __name__ == "__main__":
    unittest.main(verbosity=2)
