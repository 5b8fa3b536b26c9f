"""What each session will do: a pure function of the seed and the session's number."""

from __future__ import annotations

import enum
import math
import random
from dataclasses import dataclass

MIB = 1 << 20
_LARGEST = 4 * MIB
# A slow side takes this long at most, in seconds; well below every timeout weir is given here.
_SLOWEST = 4.0
# On loopback a receive buffer below the segment size of 64 KiB is filled only five times a second
# (delayed acknowledgements): more than this many fillings would take minutes.
_FILLINGS = 20


class Route(enum.Enum):
    """Which listener a client uses; the names are those of the configuration."""

    TCP = "tcp"
    GREETER = "greeter"  # the backend speaks first
    UNIX = "unix"  # unix sockets on both sides
    REFUSED = "refused"  # a pool whose only backend refuses


class Ending(enum.Enum):
    CLEAN = "clean"
    CLIENT_RESET = "client_reset"
    BACKEND_RESET = "backend_reset"
    SILENT = "silent"  # the client leaves without a byte


@dataclass(frozen=True)
class Side:
    """What one peer does in the exchange, where both directions run at once."""

    size: int  # bytes it sends
    piece: int  # at most this many at a time
    waits_for_end: bool  # sends only after the other side's FIN
    write_rate: float | None  # bytes a second; None = as fast as it can
    read_rate: float | None
    read_delay: float  # seconds before it reads at all
    receive_buffer: int | None  # SO_RCVBUF; None = the system's
    reset_after_sent: int | None = None
    reset_after_received: int | None = None


@dataclass(frozen=True)
class Plan:
    number: int
    route: Route
    ending: Ending
    rounds: int  # requests and answers, one at a time, before the exchange
    round_size: int
    client: Side
    backend: Side
    pause: float  # seconds before the client's next session

    def sends(self, side: Side) -> int:
        return self.rounds * self.round_size + side.size


def plan(seed: int, number: int) -> Plan:
    rng = random.Random(f"{seed}/{number}")
    route = rng.choices(list(Route), [72, 15, 8, 5])[0]
    ending = Ending.CLEAN
    if route in (Route.TCP, Route.GREETER):
        ending = rng.choices(list(Ending), [66, 15, 15, 4])[0]
    client, backend = _side(rng), _side(rng)
    client, backend = _sparing(client, backend), _sparing(backend, client)
    waiting = rng.choices(["nobody", "client", "backend"], [60, 15, 25])[0]
    client = _with(client, waits_for_end=waiting == "client")
    backend = _with(backend, waits_for_end=waiting == "backend")
    if ending == Ending.CLIENT_RESET:
        client = _resetting(rng, client, backend)
    elif ending == Ending.BACKEND_RESET:
        backend = _resetting(rng, backend, client)
    rounds = rng.randint(1, 20) if rng.random() < 0.3 else 0
    small_buffers = client.receive_buffer is not None or backend.receive_buffer is not None
    round_size = rng.choice([1, 100, 1500] if small_buffers else [1, 100, 1500, 20_000])
    pause = rng.uniform(0, 0.2)
    return Plan(number, route, ending, rounds, round_size, client, backend, pause)


def greeting_size(seed: int, token: int) -> int:
    """How much the backend of a greeter's connection says before it listens."""
    return _size(random.Random(f"{seed}/greeting/{token}"), 64 << 10)


def _side(rng: random.Random) -> Side:
    size = _size(rng, _LARGEST)
    return Side(
        size=size,
        piece=rng.choice([1000, 16_384, 65_536, 262_144]),
        waits_for_end=False,
        write_rate=_rate(rng, size),
        # Reading is paced by the largest amount that may come, so that it ends in time whatever comes.
        read_rate=_rate(rng, _LARGEST),
        read_delay=rng.uniform(0, 1) if rng.random() < 0.15 else 0.0,
        receive_buffer=rng.choice([4096, 16_384]) if rng.random() < 0.15 else None,
    )


def _size(rng: random.Random, largest: int) -> int:
    """Evenly spread over the orders of magnitude, nothing at all included."""
    return 0 if rng.random() < 0.1 else int(math.exp(rng.uniform(0, math.log(largest))))


def _rate(rng: random.Random, size: int) -> float | None:
    return max(size, 1) / rng.uniform(0.2, _SLOWEST) if rng.random() < 0.3 else None


def _sparing(side: Side, reader: Side) -> Side:
    """Sends a reader with a small buffer no more than it can take in time."""
    if reader.receive_buffer is None:
        return side
    return _with(side, size=min(side.size, _FILLINGS * reader.receive_buffer))


def _resetting(rng: random.Random, side: Side, other: Side) -> Side:
    if rng.random() < 0.5:
        return _with(side, reset_after_sent=rng.randint(0, side.size))
    return _with(side, reset_after_received=rng.randint(0, other.size))


def _with(side: Side, **changes: object) -> Side:
    return Side(**{**side.__dict__, **changes})
