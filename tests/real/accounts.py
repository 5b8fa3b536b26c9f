"""The bookkeeping that must add up whenever weir has ended, whatever happened before."""

from __future__ import annotations

from collections import Counter
from typing import Any

Json = dict[str, Any]

# What other people's scripts read from an access log line; those of TLS come and go with it.
_FIELDS = frozenset(
    "ts session listener client peer pool attempts duration_ms bytes_in bytes_out closed_by"
    " reason".split()
)
# Only where some backend was tried.
_BACKEND_FIELDS = frozenset({"backend", "address"})


def faults(snapshot: Json, sessions: list[Json]) -> list[str]:
    """Everything that does not add up between the final snapshot and the access log."""
    return [
        *_gauges_not_zero(snapshot),
        *(fault for each in snapshot["listeners"] for fault in _listener_faults(each, sessions)),
        *_log_faults(snapshot, sessions),
    ]


def _gauges_not_zero(snapshot: Json) -> list[str]:
    gauges = {"sessions": snapshot["sessions"]}
    for listener in snapshot["listeners"]:
        gauges[f"listener {listener['name']} connections"] = listener["connections"]
    for pool in snapshot["pools"]:
        gauges[f"pool {pool['name']} active"] = pool["admission"]["active"]
        for backend in pool["backends"]:
            name = f"backend {pool['name']}/{backend['name']}"
            gauges[f"{name} active"] = backend["active"]
            gauges[f"{name} dialing"] = backend["dialing"]
    return [f"{name} is {value}, not 0" for name, value in gauges.items() if value != 0]


def _listener_faults(listener: Json, sessions: list[Json]) -> list[str]:
    own = [session for session in sessions if session["listener"] == listener["name"]]
    closed = {reason: count for reason, count in listener["closed"].items() if count}
    pairs = {
        "accepted and closed": (listener["accepted"], sum(closed.values())),
        "closed and the access log's reasons": (closed, Counter(s["reason"] for s in own)),
        "bytes_in and the access log's": (listener["bytes_in"], sum(s["bytes_in"] for s in own)),
        "bytes_out and the access log's": (listener["bytes_out"], sum(s["bytes_out"] for s in own)),
    }
    name = listener["name"]
    return [
        f"listener {name}: {what} differ: {a} != {b}" for what, (a, b) in pairs.items() if a != b
    ]


def _log_faults(snapshot: Json, sessions: list[Json]) -> list[str]:
    found = []
    if snapshot["access_log_dropped"]:
        found.append(f"{snapshot['access_log_dropped']} access log lines were dropped")
    accepted = sum(listener["accepted"] for listener in snapshot["listeners"])
    if accepted != len(sessions):
        found.append(f"{accepted} connections were accepted, {len(sessions)} logged")
    names = Counter(session["session"] for session in sessions)
    found += [
        f"session {name} is logged {count} times" for name, count in names.items() if count > 1
    ]
    missing = {
        field for session in sessions for field in _expected_fields(session) - session.keys()
    }
    if missing:
        found.append(f"access log lines lack {', '.join(sorted(missing))}")
    return found


def _expected_fields(session: Json) -> frozenset[str]:
    return _FIELDS | _BACKEND_FIELDS if session["attempts"] else _FIELDS
