"""Whether what both ends saw of a session, and what weir logged of it, is what must be."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any

from soak.backend import HEADER
from soak.ledger import Entry, Ledger
from soak.peer import Seen
from soak.plan import Ending, Plan, Route, Side

Json = dict[str, Any]

_CLOSED = {"client_closed", "backend_closed"}


def faults(ledger: Ledger, sessions: list[Json]) -> list[str]:
    found = list(ledger.faults)
    # A client's address may come again: at another listener, or after its earlier session has ended.
    logged: dict[tuple[str, str], deque[Json]] = defaultdict(deque)
    for session in sessions:
        logged[session["listener"], session["client"]].append(session)
    for number, entry in sorted(ledger.entries.items()):
        own = [*_seen_faults(entry)]
        if entry.address is not None:
            lines = logged[entry.plan.route.value, entry.address]
            own += _log_faults(entry, lines.popleft()) if lines else ["weir logged no such session"]
        found += [f"session {number}: {fault}; {entry.plan}" for fault in own]
    return found


def _seen_faults(entry: Entry) -> Iterator[str]:
    plan, client, backend = entry.plan, entry.client, entry.backend
    yield from client.faults
    if plan.ending == Ending.SILENT:
        return
    if plan.route == Route.REFUSED:
        if not client.end:
            yield "a refused client did not see a clean end"
        return
    if backend is None:
        if plan.ending != Ending.CLIENT_RESET:
            yield "no backend heard of it"
        return
    yield from backend.faults
    if plan.ending == Ending.CLEAN:
        yield from _clean("client", plan, plan.backend, client)
        yield from _clean("backend", plan, plan.client, backend)
    elif plan.ending == Ending.CLIENT_RESET:
        yield from _reset("backend", plan, plan.client, client, backend)
    else:
        yield from _reset("client", plan, plan.backend, backend, client)


def _clean(who: str, plan: Plan, other: Side, seen: Seen) -> Iterator[str]:
    if seen.reset:
        yield f"{who} saw a reset in a clean session"
    if not seen.end or seen.received != plan.sends(other):
        end = "the end" if seen.end else "no end"
        yield f"{who} received {seen.received} of {plan.sends(other)} bytes and {end}"
    if not seen.sent_all:
        yield f"{who} could not send everything"


def _reset(who: str, plan: Plan, other: Side, resetting: Seen, seen: Seen) -> Iterator[str]:
    # That what came is a prefix was checked byte by byte as it came.
    if seen.end and not (resetting.sent_all and seen.received == plan.sends(other)):
        yield f"{who} took a reset for a clean end after {seen.received} bytes"
    if not seen.end and not seen.reset:
        yield f"{who} saw neither an end nor the reset"


def _log_faults(entry: Entry, line: Json) -> Iterator[str]:
    plan, backend = entry.plan, entry.backend
    reason = line["reason"]
    if reason not in _reasons(plan, entry):
        yield f"weir logged it as {reason}"
    if plan.ending == Ending.CLEAN and plan.route != Route.REFUSED:
        expected = (HEADER.size + plan.sends(plan.client), entry.greeted + plan.sends(plan.backend))
        if (line["bytes_in"], line["bytes_out"]) != expected:
            logged = f"{line['bytes_in']} in, {line['bytes_out']} out"
            yield f"weir logged {logged}, not {expected[0]} in, {expected[1]} out"
    elif backend is not None and line["bytes_in"] < HEADER.size + backend.received:
        yield f"weir logged {line['bytes_in']} bytes in, the backend has more: {backend.received}"


def _reasons(plan: Plan, entry: Entry) -> set[str]:
    if plan.route == Route.REFUSED:
        return {"upstream_connect_failed"}
    if plan.ending == Ending.CLEAN:
        return _CLOSED
    if plan.ending == Ending.SILENT:
        return _CLOSED | {"client_reset"}
    resetting = entry.client if plan.ending == Ending.CLIENT_RESET else entry.backend
    # A reset after its own FIN may come when weir has already passed everything on.
    late = resetting is not None and resetting.sent_all
    return {plan.ending.value} | (_CLOSED if late else set())
