"""weir's configuration as the tests write it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Scalar = str | int | bool
Value = Scalar | list[str]


@dataclass(frozen=True)
class Listener:
    name: str
    bind: str
    pool: str


@dataclass(frozen=True)
class Pool:
    name: str
    backends: dict[str, str]  # name to address
    balance: str = "round_robin"
    timeouts: dict[str, Scalar] = field(default_factory=dict)
    resilience: dict[str, Scalar] = field(default_factory=dict)
    health: dict[str, Scalar] = field(default_factory=dict)  # empty = no active checks


@dataclass(frozen=True)
class Config:
    listeners: list[Listener]
    pools: list[Pool]
    workers: int = 2
    shutdown_deadline: str = "30s"
    http: str = ""  # where `http.listen` is; empty = nowhere

    def yaml(self, access_log: Path) -> str:
        return "\n".join(
            [
                f"workers: {self.workers}",
                f"admin: {{socket: {_scalar(str(access_log.parent / 'admin.sock'))}}}",
                *([f"http: {{listen: {_scalar(self.http)}}}"] if self.http else []),
                f"log: {{level: info, format: json, access: {_scalar(str(access_log))}}}",
                f"shutdown: {{deadline: {self.shutdown_deadline}}}",
                "listeners:",
                *(f"  - {_mapping(_listener(listener))}" for listener in self.listeners),
                "pools:",
                *(line for pool in self.pools for line in _pool(pool)),
                "",
            ]
        )


def single(bind: str, address: str, **timeouts: str) -> Config:
    """One listener in front of one backend, which every client is dialled for."""
    pool = Pool(
        "servers",
        {"only": address},
        timeouts=dict(timeouts),
        resilience={"circuit_enabled": False},
    )
    return Config([Listener("front", bind, "servers")], [pool])


def _listener(listener: Listener) -> dict[str, Value]:
    return {"name": listener.name, "bind": [listener.bind], "pool": listener.pool}


def _pool(pool: Pool) -> list[str]:
    lines = [f"  - name: {_scalar(pool.name)}", f"    balance: {pool.balance}"]
    if pool.timeouts:
        lines.append(f"    timeouts: {_mapping(pool.timeouts)}")
    if pool.resilience:
        lines.append(f"    resilience: {_mapping(pool.resilience)}")
    if pool.health:
        lines.append(f"    health: {_mapping(pool.health)}")
    lines.append("    backends:")
    for name, address in pool.backends.items():
        lines.append(f"      - {_mapping({'name': name, 'address': address})}")
    return lines


def _mapping(values: Mapping[str, Value]) -> str:
    return "{" + ", ".join(f"{key}: {_value(value)}" for key, value in values.items()) + "}"


def _value(value: Value) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_scalar(each) for each in value) + "]"
    return _scalar(value)


def _scalar(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    # Plain where users would write it plainly: durations, numbers, names. Within braces an address
    # needs its quotes.
    return text if re.fullmatch(r"[A-Za-z0-9_.-]+", text) else json.dumps(text)
