"""The scripted backends: they learn from the client's first bytes which plan they are part of."""

from __future__ import annotations

import asyncio
import socket
import struct

from soak.ledger import Ledger
from soak.peer import Peer, receive_exactly
from soak.plan import greeting_size
from soak.stream import Corrupted

# Client to backend, first of all: the session's number.
HEADER = struct.Struct("!Q")
# Greeter to client, before that: the token of the greeting and the greeting's size.
GREETING = struct.Struct("!QQ")

_BACKLOG = 1024  # more than all clients together: the backend is never the one that refuses


class Backend:
    """One listening socket; `greets` makes it speak first."""

    def __init__(self, address: str, ledger: Ledger, greets: bool = False) -> None:
        self._ledger = ledger
        self._greets = greets
        self._tokens = 0
        self._sessions: set[asyncio.Task[None]] = set()
        if address.startswith("unix:"):
            self._listening = socket.socket(socket.AF_UNIX)
            self._listening.bind(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            self._listening = socket.create_server((host, int(port)))
        self._listening.listen(_BACKLOG)
        self._listening.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(self._listening)
            session = asyncio.create_task(self._serve(connection))
            self._sessions.add(session)
            session.add_done_callback(self._sessions.discard)

    async def _serve(self, connection: socket.socket) -> None:
        with connection:
            if self._greets and not await self._greet(connection):
                self._ledger.unnamed += 1
                return
            header = await receive_exactly(connection, HEADER.size)
            if header is None:
                self._ledger.unnamed += 1
                return
            number = HEADER.unpack(header)[0]
            entry = self._ledger.entries.get(number)
            if entry is None or entry.backend is not None:
                self._ledger.fault(f"a backend was told of session {number}, which is not its")
                return
            side = entry.plan.backend
            if side.receive_buffer is not None:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, side.receive_buffer)
            streams = self._ledger.streams
            peer = Peer(
                connection, side, streams.open(f"{number}/out"), streams.open(f"{number}/in")
            )
            entry.backend = peer.seen
            try:
                await peer.talk(entry.plan, begins=False)
            except Corrupted as error:
                peer.seen.faults.append(f"backend: {error}")

    async def _greet(self, connection: socket.socket) -> bool:
        loop = asyncio.get_running_loop()
        token, self._tokens = self._tokens, self._tokens + 1
        left = greeting_size(self._ledger.seed, token)
        greeting = self._ledger.streams.open(f"greeting/{token}")
        try:
            await loop.sock_sendall(connection, GREETING.pack(token, left))
            await loop.sock_sendall(connection, greeting.next(left))
        except ConnectionError:
            return False
        return True

    def busy(self) -> int:
        return len(self._sessions)

    async def close(self) -> None:
        self._accepting.cancel()
        for session in self._sessions:
            session.cancel()
        await asyncio.gather(self._accepting, *self._sessions, return_exceptions=True)
        self._listening.close()
