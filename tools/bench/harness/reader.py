"""A monitoring system that reads a proxy's metrics while it works."""
from __future__ import annotations

import threading
import urllib.error
import urllib.request

from .processes import BenchError

INTERVAL = 1.0  # seconds


class Reader:
    """Reads at once and then once every second, between `with` and its end.

    A run is shorter than that second, so that its share of the cost is rather too large.
    """

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/metrics"
        self._over = threading.Event()
        self._problem: Exception | None = None
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> Reader:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._over.set()
        self._thread.join()
        if self._problem is not None and kind is None:
            raise BenchError(f"reading {self._url}: {self._problem}")

    def _read(self) -> None:
        try:
            while True:
                with urllib.request.urlopen(self._url, timeout=10) as answer:
                    answer.read()
                if self._over.wait(INTERVAL):
                    return
        except (OSError, urllib.error.URLError) as problem:
            self._problem = problem
