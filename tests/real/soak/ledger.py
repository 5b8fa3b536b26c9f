"""Both ends of every session, brought together by the session's number."""

from __future__ import annotations

from dataclasses import dataclass, field

from soak.peer import Seen
from soak.plan import Plan, plan
from soak.stream import Streams


@dataclass
class Entry:
    plan: Plan
    client: Seen = field(default_factory=Seen)
    backend: Seen | None = None  # None: no backend has heard of it
    address: str | None = None  # the client's, as weir writes it; None for unix sockets
    greeted: int = 0  # bytes of the prologue that the backend sent before the plan began


class Ledger:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.streams = Streams(seed)
        self.entries: dict[int, Entry] = {}
        self.unnamed = 0  # backend connections that ended before they said which session they are
        self.faults: list[str] = []

    def open(self, number: int) -> Entry:
        return self.entries.setdefault(number, Entry(plan(self.seed, number)))

    def fault(self, what: str) -> None:
        self.faults.append(what)
