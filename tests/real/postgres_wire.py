"""As much of PostgreSQL's protocol as a client needs that only listens: psql shows notifications
only when it is given a command, so it cannot stay silent and watch."""

from __future__ import annotations

import socket
import struct

from deadline import PATIENCE


class Listening:
    """A session that has sent LISTEN and from then on sends nothing at all."""

    def __init__(self, port: int, user: str, channel: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._input = self._socket.makefile("rb")
        version = 196608  # protocol 3.0
        names = f"user\0{user}\0database\0postgres\0\0".encode()
        self._socket.sendall(struct.pack("!ii", 8 + len(names), version) + names)
        self._until(b"Z")
        query = f"LISTEN {channel}\0".encode()
        self._socket.sendall(b"Q" + struct.pack("!i", 4 + len(query)) + query)
        self._until(b"Z")

    def next_payload(self) -> str:
        """Waits for the next notification."""
        body = self._until(b"A")
        _process, _channel, payload, _rest = body[:4], *body[4:].split(b"\0", 2)
        return payload.decode()

    def _until(self, kind: bytes) -> bytes:
        """Reads messages up to and including the next of this kind, and returns its body."""
        while True:
            head = self._input.read(5)
            if len(head) < 5:
                raise AssertionError(f"the session ended before a {kind!r} message")
            body = self._input.read(struct.unpack("!i", head[1:])[0] - 4)
            if head[:1] == b"E":
                raise AssertionError(f"PostgreSQL refused: {body!r}")
            if head[:1] == kind:
                return body

    def read_end(self) -> bytes:
        """What comes until the server side closes: empty when it closes without a word."""
        return self._input.read()

    def close(self) -> None:
        self._input.close()
        self._socket.close()
