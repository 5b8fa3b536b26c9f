"""Bulk data is compared by hash, so that no test holds it in memory."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import IO

_PIECE = 1 << 20


def of_stream(stream: IO[bytes]) -> tuple[int, str]:
    """Size and hash of all that is left to read."""
    size, whole = 0, hashlib.sha256()
    while piece := stream.read(_PIECE):
        size += len(piece)
        whole.update(piece)
    return size, whole.hexdigest()


def of_output(argv: list[str], keep: Path | None = None) -> tuple[int, str]:
    """Size and hash of what a program writes to its output, kept in a file where one is named."""
    if keep is not None:
        with keep.open("wb") as file:
            subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=file, check=True)
        with keep.open("rb") as written:
            return of_stream(written)
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        result = of_stream(running.stdout)
    if running.returncode != 0:
        raise AssertionError(f"{' '.join(argv)}: exit code {running.returncode}")
    return result
