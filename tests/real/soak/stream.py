"""The bytes of each direction of each session, known to both ends without being stored."""

from __future__ import annotations

import random

_BLOCK_SIZE = 1_048_573  # prime: no buffer size divides it, so no repeated buffer goes unnoticed


class Streams:
    """Every stream is one random block, read round and round from a start of its own: comparing a
    piece with what it should be costs no more than a hash of it and says where they differ."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._twice = random.Random(seed).randbytes(_BLOCK_SIZE) * 2

    def open(self, name: str) -> Stream:
        start = random.Random(f"{self._seed}/{name}").randrange(_BLOCK_SIZE)
        return Stream(self._twice, start)


class Stream:
    def __init__(self, twice: bytes, start: int) -> None:
        self._twice = twice
        self._start = start
        self.position = 0

    def next(self, size: int) -> bytes:
        """The next bytes, at most `size`; moves on."""
        at = (self._start + self.position) % _BLOCK_SIZE
        piece = self._twice[at : at + min(size, _BLOCK_SIZE)]
        self.position += len(piece)
        return piece

    def check(self, received: bytes) -> None:
        """Raises Corrupted unless these are the next bytes; moves on."""
        at = self.position
        expected = self.next(len(received))
        if received != expected:
            wrong = next(i for i, (a, b) in enumerate(zip(received, expected)) if a != b)
            raise Corrupted(f"byte {at + wrong} is not what was sent")


class Corrupted(Exception):
    """A byte arrived that was not sent at that place."""
