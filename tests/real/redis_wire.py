"""As much of Redis's protocol as these tests need: redis-cli cannot take part in a conversation."""

from __future__ import annotations

import socket

from deadline import PATIENCE

Reply = bytes | int | None | list["Reply"]


class Redis:
    """One connection; commands may be sent ahead of the replies that are read."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._input = self._socket.makefile("rb")

    def ask(self, *words: bytes) -> Reply:
        self.send(words)
        return self.reply()

    def send(self, *commands: tuple[bytes, ...]) -> None:
        """Sends commands in one go, without waiting for their replies."""
        self._socket.sendall(b"".join(_encode(words) for words in commands))

    def reply(self) -> Reply:
        line = self._input.readline()
        if not line.endswith(b"\r\n"):
            raise AssertionError(f"the connection ended within a reply: {line!r}")
        kind, text = line[:1], line[1:-2]
        if kind == b"-":
            raise AssertionError(f"Redis refused: {text!r}")
        if kind == b"+":
            return text
        number = int(text)
        if kind == b":":
            return number
        if number < 0:
            return None
        if kind == b"*":
            return [self.reply() for _ in range(number)]
        body = self._input.read(number + 2)
        if len(body) < number + 2:
            raise AssertionError(f"the connection ended within {number} bytes of a value")
        return body[:-2]

    def close(self) -> None:
        self._input.close()
        self._socket.close()


def _encode(words: tuple[bytes, ...]) -> bytes:
    parts = [b"*%d\r\n" % len(words)]
    parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
    return b"".join(parts)
