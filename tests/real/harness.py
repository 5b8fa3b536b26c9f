"""What every test with a real server shares: folders, children, weir, and the checks at its end."""

from __future__ import annotations

import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar, Protocol

import ports
from child import Child
from weir_config import Config
from weir_process import Weir


class Server(Protocol):
    """A server that can be started again has another child each time."""

    child: Child


class RealTest(unittest.TestCase):
    """Servers belong to the class, as they are slow to start; each test has a weir of its own, which
    must have kept its books in order when the test is over."""

    class_folder: ClassVar[Path]
    servers: ClassVar[list[Server]]  # shown when a test fails

    @classmethod
    def setUpClass(cls) -> None:
        # Short, since paths of unix sockets have to fit 107 bytes; open to the servers' users.
        cls.class_folder = Path(tempfile.mkdtemp(prefix="weir-"))
        cls.class_folder.chmod(0o755)
        cls.servers = []
        cls.addClassCleanup(shutil.rmtree, cls.class_folder, ignore_errors=True)

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        self.folder = self.class_folder / self._testMethodName
        self.folder.mkdir()
        self._weirs: list[Weir] = []
        result = result if result is not None else self.defaultTestResult()
        before = _count_faults(result)
        super().run(result)
        if _count_faults(result) > before:
            self._show_output()
        return result

    def _show_output(self) -> None:
        for child in [
            *(weir.child for weir in self._weirs),
            *(server.child for server in self.servers),
        ]:
            print(child.tail(), file=sys.stderr)

    def start_weir(self, config: Config) -> Weir:
        weir = Weir(config, self.folder / f"weir{len(self._weirs)}")
        self._weirs.append(weir)
        # Also when the test has failed: it may have failed because of what is checked here.
        self.addCleanup(self._stop_weir, weir)
        return weir

    def _stop_weir(self, weir: Weir) -> None:
        if not weir.stopped:
            weir.stop()

    def local(self) -> tuple[str, int]:
        """A free address on loopback, as weir writes it, and its port."""
        port = ports.free_port()
        return f"127.0.0.1:{port}", port

    def assert_ended_as(self, sessions: list[dict[str, Any]], *reasons: str) -> None:
        others = [session for session in sessions if session["reason"] not in reasons]
        self.assertEqual(others, [], f"sessions that did not end as {reasons}")


def _count_faults(result: unittest.TestResult) -> int:
    return len(result.failures) + len(result.errors)
