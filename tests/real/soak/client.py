"""The client of one session, from connect to close."""

from __future__ import annotations

import asyncio
import socket
import struct

from soak.backend import GREETING, HEADER
from soak.ledger import Entry, Ledger
from soak.peer import Peer, receive_exactly
from soak.plan import Ending, Route
from soak.stream import Corrupted

# Far above what any plan takes, even under a sanitizer: a session that lasts this long hangs.
SESSION_BOUND = 90.0


async def run(ledger: Ledger, number: int, addresses: dict[Route, str]) -> None:
    entry = ledger.open(number)
    try:
        async with asyncio.timeout(SESSION_BOUND):
            await _session(ledger, entry, addresses[entry.plan.route])
    except TimeoutError:
        entry.client.faults.append(f"client: not over after {SESSION_BOUND:g}s")
    except Corrupted as error:
        entry.client.faults.append(f"client: {error}")
    except OSError as error:
        entry.client.faults.append(f"client: {error!r}")


async def _session(ledger: Ledger, entry: Entry, address: str) -> None:
    loop = asyncio.get_running_loop()
    plan = entry.plan
    with _socket(address) as connection:
        connection.setblocking(False)
        if plan.client.receive_buffer is not None:
            # Before connect, as it bounds the window from the start.
            size = plan.client.receive_buffer
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
        await loop.sock_connect(connection, _name(address))
        if connection.family == socket.AF_INET:
            entry.address = "{}:{}".format(*connection.getsockname())
        if plan.ending == Ending.SILENT:
            if plan.client.size % 2:
                linger = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            return
        if plan.route == Route.GREETER:
            await _hear_greeting(ledger, entry, connection)
        if plan.route == Route.REFUSED:
            await _expect_refusal(entry, connection)
            return
        await loop.sock_sendall(connection, HEADER.pack(plan.number))
        sends = ledger.streams.open(f"{plan.number}/in")
        expects = ledger.streams.open(f"{plan.number}/out")
        peer = Peer(connection, plan.client, sends, expects)
        peer.seen = entry.client
        await peer.talk(plan, begins=True)


async def _hear_greeting(ledger: Ledger, entry: Entry, connection: socket.socket) -> None:
    """Says nothing until the whole greeting is here."""
    head = await receive_exactly(connection, GREETING.size)
    if head is None:
        raise ConnectionError("no greeting came")
    token, size = GREETING.unpack(head)
    greeting = await receive_exactly(connection, size)
    if greeting is None:
        raise ConnectionError("the greeting was cut short")
    ledger.streams.open(f"greeting/{token}").check(greeting)
    entry.greeted = GREETING.size + size


async def _expect_refusal(entry: Entry, connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    try:
        if entry.plan.client.size % 2:
            # A client that speaks before it is refused must still see a clean end.
            await loop.sock_sendall(connection, HEADER.pack(entry.plan.number))
        entry.client.end = not await loop.sock_recv(connection, 1)
    except ConnectionError:
        entry.client.reset = True


def _socket(address: str) -> socket.socket:
    return socket.socket(socket.AF_UNIX if address.startswith("unix:") else socket.AF_INET)


def _name(address: str) -> str | tuple[str, int]:
    if address.startswith("unix:"):
        return address.removeprefix("unix:")
    host, _, port = address.rpartition(":")
    return host, int(port)
