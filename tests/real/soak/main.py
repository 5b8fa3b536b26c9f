"""The soak: starts everything, lets it run for a time, and adds everything up."""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import ports
from deadline import PATIENCE
from soak import client, verdict
from soak.backend import Backend
from soak.ledger import Ledger
from soak.plan import Ending, Route
from soak.vitals import (
    QUIET_CPU_SECONDS,
    QUIET_SECONDS,
    Vitals,
    tolerated_cpu_seconds,
    tolerated_kib,
)
from weir_config import Config, Listener, Pool
from weir_process import Weir, binary

Json = dict[str, Any]

_FAULTS_SHOWN = 20


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--workers", type=int, default=2, help="weir's worker threads")
    parser.add_argument("--clients", type=int, default=64, help="sessions at once")
    parser.add_argument("--only", type=int, metavar="N", help="run session N of the seed, alone")
    parser.add_argument(
        "--no-rss",
        action="store_true",
        help="for sanitizers: no bound on memory, a wide one on CPU",
    )
    parser.add_argument("--binary", default=binary(), help="the weir to run")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    print(f"soak: {options.seconds:g}s, seed {options.seed}, {options.workers} workers", flush=True)
    with tempfile.TemporaryDirectory(prefix="weir-soak-") as folder:
        soak = Soak(options, Path(folder))
        found = asyncio.run(soak.run())
        soak.print_summary()
        for fault in found[:_FAULTS_SHOWN]:
            print(f"fault: {fault}")
        if found:
            print(soak.weir.child.tail())
            print(f"replay with: scripts/soak {options.seconds:g} --seed {options.seed}")
    print(f"soak: {'failed' if found else 'passed'}, {len(found)} faults, seed {options.seed}")
    return 1 if found else 0


class Soak:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._options = options
        self._ledger = Ledger(options.seed)
        self._addresses: dict[Route, str] = {
            Route.TCP: f"127.0.0.1:{ports.free_port()}",
            Route.GREETER: f"127.0.0.1:{ports.free_port()}",
            Route.UNIX: f"unix:{folder}/front",
            Route.REFUSED: f"127.0.0.1:{ports.free_port()}",
        }
        self._served = [f"127.0.0.1:{ports.free_port()}" for _ in range(2)]
        self._greeter = f"127.0.0.1:{ports.free_port()}"
        self._unix = f"unix:{folder}/back"
        # Ports nobody listens at: reserved for this process, so that nobody comes to either.
        self._nobody = [f"127.0.0.1:{ports.free_port()}" for _ in range(2)]
        self.weir = Weir(self._config(), folder / "weir", options.binary)
        self._vitals = Vitals(self.weir.open_fds())
        self._snapshot: Json = {}

    def _config(self) -> Config:
        # Above what the slowest plan needs: none of them may be what ends a session here.
        timeouts: dict[str, str | int | bool] = {"idle": "60s", "half_close": "60s"}
        backends: dict[Route, dict[str, str]] = {
            Route.TCP: {"a": self._served[0], "refuses": self._nobody[0], "b": self._served[1]},
            Route.GREETER: {"refuses": self._nobody[0], "greeter": self._greeter},
            Route.UNIX: {"unix": self._unix},
            Route.REFUSED: {"refuses": self._nobody[1]},
        }
        return Config(
            [Listener(r.value, address, r.value) for r, address in self._addresses.items()],
            # Where there is nobody else each client is to be dialled for, and refused by the dial.
            [
                Pool(r.value, each, timeouts=timeouts,
                     resilience={"circuit_enabled": r is not Route.REFUSED})
                for r, each in backends.items()
            ],
            workers=self._options.workers,
        )

    async def run(self) -> list[str]:
        """Returns all faults."""
        backends = [Backend(address, self._ledger) for address in [*self._served, self._unix]]
        backends.append(Backend(self._greeter, self._ledger, greets=True))
        watching = asyncio.create_task(self._vitals.watch(self.weir, self._options.seconds / 6))
        found: list[str] = []
        await self._drive()
        watching.cancel()
        (ended,) = await asyncio.gather(watching, return_exceptions=True)
        if not isinstance(ended, asyncio.CancelledError):
            found.append(f"weir could not be watched: {ended!r}")
        found += await self._settle(backends)
        for backend in backends:
            await backend.close()
        snapshot, wrong = self.weir.finish()
        self._snapshot = snapshot or {}
        found += wrong
        found += self._cpu_faults()
        return found + verdict.faults(self._ledger, self.weir.sessions())

    async def _drive(self) -> None:
        only = self._options.only
        numbers = iter(range(1 << 62) if only is None else [only])
        end = time.monotonic() + self._options.seconds

        async def one_after_another() -> None:
            while time.monotonic() < end and self.weir.child.is_running():
                number = next(numbers, None)
                if number is None:
                    return
                await client.run(self._ledger, number, self._addresses)
                await asyncio.sleep(self._ledger.entries[number].plan.pause)

        await asyncio.gather(*(one_after_another() for _ in range(self._options.clients)))

    async def _settle(self, backends: list[Backend]) -> list[str]:
        """Everything must go back to what it was, within the time that lingering may take."""
        if not self.weir.child.is_running():
            return ["weir has ended by itself"]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.weir.open_fds() <= self._vitals.fds_before and not any(
                b.busy() for b in backends
            ):
                break
            await asyncio.sleep(0.1)
        vitals = self._vitals
        await vitals.finish(self.weir)
        found = []
        if vitals.quiet_cpu_seconds > QUIET_CPU_SECONDS:
            found.append(f"{vitals.quiet_cpu_seconds:.2f}s of CPU in {QUIET_SECONDS}s of quiet")
        if vitals.end_fds > vitals.fds_before:
            found.append(f"{vitals.end_fds} descriptors at the end, {vitals.fds_before} before")
        if busy := sum(backend.busy() for backend in backends):
            found.append(f"{busy} backend sessions never ended")
        grown = vitals.end_kib - vitals.warm_kib
        if not self._options.no_rss and grown > tolerated_kib(self._options.clients):
            found.append(f"resident memory grew by {grown} KiB after the warm-up")
        return found

    def _cpu_faults(self) -> list[str]:
        factor = 30 if self._options.no_rss else 10
        sessions = len(self._ledger.entries)
        tolerated = tolerated_cpu_seconds(sessions, self._relayed_mebibytes(), factor)
        spent = self._vitals.cpu_seconds
        # Starting costs something as well, which only a very short run would notice.
        if spent <= max(tolerated, 1.0):
            return []
        return [f"weir used {spent:.1f}s of CPU, more than {tolerated:.1f}s for what it did"]

    def _relayed_mebibytes(self) -> float:
        listeners = self._snapshot.get("listeners", [])
        return sum(each["bytes_in"] + each["bytes_out"] for each in listeners) / (1 << 20)

    def print_summary(self) -> None:
        plans = [entry.plan for entry in self._ledger.entries.values()]
        endings = Counter(plan.ending for plan in plans if plan.route != Route.REFUSED)
        listeners = self._snapshot.get("listeners", [])
        reasons: Counter[str] = Counter()
        for listener in listeners:
            reasons.update(listener["closed"])
        dials: Counter[str] = Counter()
        for pool in self._snapshot.get("pools", []):
            for backend in pool["backends"]:
                dials.update(backend["totals"]["failures"])
                dials["connected"] += backend["totals"]["connected"]
        vitals = self._vitals
        rows = {
            "sessions": f"{len(plans)}, {self._ledger.unnamed} of them unnamed to a backend",
            "planned": _counts({ending.value: endings[ending] for ending in Ending})
            + f", refused {sum(plan.route == Route.REFUSED for plan in plans)}",
            "closed as": _counts(reasons),
            "dials": _counts(dials),
            "relayed": f"{self._relayed_mebibytes():.0f} MiB",
            "weir's CPU": f"{vitals.cpu_seconds:.1f}s",
            "descriptors": f"{vitals.fds_before} before, {vitals.peak_fds} at most, {vitals.end_fds} after",
            "resident KiB": f"{vitals.warm_kib} warm, {vitals.peak_kib} at most, {vitals.end_kib} after"
            f" (may grow by {tolerated_kib(self._options.clients)})",
        }
        for name, value in rows.items():
            print(f"  {name:<14}{value}")


def _counts(counts: dict[str, int] | Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()) if count)
