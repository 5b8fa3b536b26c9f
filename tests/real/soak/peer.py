"""What a client and a backend have in common once they talk: one Side of a Plan carried out."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass, field

from soak.plan import Plan, Side
from soak.stream import Stream

_READ_SIZE = 1 << 16


@dataclass
class Seen:
    """What one peer has seen of a session, judged when both are done."""

    received: int = 0
    sent_all: bool = False  # and its FIN
    end: bool = False  # a FIN came, and no reset before it
    reset: bool = False  # any call told of a reset
    faults: list[str] = field(default_factory=list)


class _ResetNow(Exception):
    """The plan says that this side resets the connection here."""


class Peer:
    def __init__(self, sock: socket.socket, side: Side, sends: Stream, expects: Stream) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = sock
        self._side = side
        self._sends = sends
        self._expects = expects
        self._other_ended = asyncio.Event()
        self.seen = Seen()

    async def talk(self, plan: Plan, begins: bool) -> None:
        """Everything up to the end of both directions, or to the reset that the plan asks for. The
        caller closes the socket."""
        try:
            for _ in range(plan.rounds):
                if begins:
                    await self._send(plan.round_size)
                await self._receive_exactly(plan.round_size)
                if not begins:
                    await self._send(plan.round_size)
        except EOFError:
            self.seen.end = True
            return
        except ConnectionError:
            self.seen.reset = True
            return
        await self._exchange()

    async def _exchange(self) -> None:
        halves = [asyncio.create_task(self._write()), asyncio.create_task(self._read())]
        try:
            await asyncio.gather(*halves)
        except _ResetNow:
            # Linger of zero: close() sends RST and drops what was not sent yet.
            linger = struct.pack("ii", 1, 0)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        finally:
            for half in halves:
                half.cancel()
            await asyncio.gather(*halves, return_exceptions=True)

    async def _write(self) -> None:
        side = self._side
        if side.waits_for_end:
            await self._other_ended.wait()
        limit = side.size if side.reset_after_sent is None else side.reset_after_sent
        left = limit
        try:
            while left > 0 and not self.seen.reset:
                left -= await self._send(min(left, side.piece))
                await _keep_pace(side.write_rate, min(limit, side.piece))
            if side.reset_after_sent is not None:
                raise _ResetNow
            self._socket.shutdown(socket.SHUT_WR)
            self.seen.sent_all = left == 0
        except OSError:
            # ENOTCONN of shutdown() too: the connection was reset meanwhile.
            self.seen.reset = True

    async def _read(self) -> None:
        side = self._side
        began = self.seen.received
        await asyncio.sleep(side.read_delay)
        while True:
            if side.reset_after_received is not None:
                if self.seen.received - began >= side.reset_after_received:
                    raise _ResetNow
            try:
                got = await self._receive(_READ_SIZE)
            except ConnectionError:
                self.seen.reset = True
                break
            if got == 0:
                # The system tells of a reset once: when the writer has heard of it, reading on
                # looks like a clean end. It may have heard in this turn of the loop: let it speak.
                await asyncio.sleep(0)
                self.seen.end = not self.seen.reset
                break
            await _keep_pace(side.read_rate, got)
        self._other_ended.set()
        if side.reset_after_received is not None:
            raise _ResetNow

    async def _send(self, size: int) -> int:
        piece = self._sends.next(size)
        await self._loop.sock_sendall(self._socket, piece)
        return len(piece)

    async def _receive(self, limit: int) -> int:
        got = await self._loop.sock_recv(self._socket, limit)
        self._expects.check(got)
        self.seen.received += len(got)
        return len(got)

    async def _receive_exactly(self, size: int) -> None:
        while size > 0:
            got = await self._receive(size)
            if got == 0:
                raise EOFError
            size -= got


async def receive_exactly(sock: socket.socket, size: int) -> bytes | None:
    """None when the connection ends before."""
    loop = asyncio.get_running_loop()
    whole = b""
    while len(whole) < size:
        try:
            got = await loop.sock_recv(sock, size - len(whole))
        except ConnectionError:
            return None
        if not got:
            return None
        whole += got
    return whole


async def _keep_pace(rate: float | None, size: int) -> None:
    if rate is not None:
        await asyncio.sleep(size / rate)
