"""weir's admin socket as scripts use it, and its command line tool."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("weir", timeout=timeout)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Admin:
    """One request a connection, so that nothing of one is left for the next."""

    def __init__(self, path: Path, timeout: float = 30.0) -> None:
        self.path = path
        self._timeout = timeout

    def text(self, method: str, target: str, body: str | None = None) -> tuple[int, str]:
        connection = _UnixConnection(self.path, self._timeout)
        try:
            connection.request(method, target, body)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def call(self, method: str, target: str, body: str | None = None) -> Json:
        status, text = self.text(method, target, body)
        if status != 200:
            raise AssertionError(f"{method} {target}: {status} {text}")
        return json.loads(text)

    def get(self, target: str) -> Json:
        return self.call("GET", target)

    def post(self, target: str, body: str | None = None) -> Json:
        return self.call("POST", target, body)

    def why(self, pool: str, backend: str) -> Json:
        """What `why` says of one backend."""
        for each in self.get(f"/v1/why?pool={pool}")["backends"]:
            if each["name"] == backend:
                return each
        raise AssertionError(f"why {pool} does not know {backend}")

    def ctl(self, *arguments: str, code: int = 0) -> str:
        """Runs weirctl; returns its output, both streams."""
        program = Path(os.environ["WEIR_BINARY"]).with_name("weirctl")
        ended = subprocess.run(
            [program, "--socket", self.path, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        output = ended.stdout + ended.stderr
        if ended.returncode != code:
            raise AssertionError(f"weirctl {' '.join(arguments)}: {ended.returncode}\n{output}")
        return output
