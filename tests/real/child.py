"""One process started by a test: its output is kept, and it is ended by its pid."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
from pathlib import Path

from deadline import PATIENCE

# What is shown of a log when a test fails; enough for a stack trace of a sanitizer.
_TAIL_LINES = 200


class Child:
    """Runs until stop(), or until this process dies: a suite killed half-way leaves nothing behind."""

    def __init__(
        self,
        argv: list[str],
        log: Path,
        user: str | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.name = Path(argv[0]).name
        self.log = log
        # setpriv, as running code between fork and exec is unsafe once gRPC has threads.
        command = ["setpriv", "--pdeathsig", "KILL"]
        if user is not None and os.getuid() == 0:
            account = pwd.getpwnam(user)
            ids = ["--reuid", str(account.pw_uid), "--regid", str(account.pw_gid)]
            command += [*ids, "--clear-groups"]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*command, "--", *argv],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_running(self) -> bool:
        return self._process.poll() is None

    def stop(self, with_signal: int = signal.SIGTERM, seconds: float = PATIENCE) -> int:
        """Asks it to end and returns its exit code; one that does not end in time is killed, which
        shows as a negative code."""
        if self.is_running():
            self._process.send_signal(with_signal)
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def tail(self) -> str:
        lines = self.output().splitlines()[-_TAIL_LINES:]
        return "\n".join([f"--- {self.name} (pid {self.pid}): {self.log.name}", *lines])


def owned_folder(path: Path, user: str) -> Path:
    """A new folder that belongs to `user`, for servers that refuse to run as root."""
    path.mkdir()
    if os.getuid() == 0:
        shutil.chown(path, user)
    return path


def run(
    argv: list[str],
    *,
    environment: dict[str, str] | None = None,
    stdin: str | None = None,
    seconds: float = 2 * PATIENCE,
) -> str:
    """Runs a client to its end and returns its output; a failure carries all it said."""
    done = run_unchecked(argv, environment=environment, stdin=stdin, seconds=seconds)
    if done.returncode != 0:
        said = f"{done.stdout}\n{done.stderr}"
        raise AssertionError(f"{' '.join(argv)}: exit code {done.returncode}\n{said}")
    return done.stdout


def run_unchecked(
    argv: list[str],
    *,
    environment: dict[str, str] | None = None,
    stdin: str | None = None,
    seconds: float = 2 * PATIENCE,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv,
        env={**os.environ, **(environment or {})},
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
