"""A scratch copy of the source, with a build of its own: the working tree is never touched."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree
from collections.abc import Iterator, Sequence

from .mutation import Mutation

# The release: the races are tightest there.
PRESET = "release"


class TreeError(Exception):
    """The copy cannot be used; the text says why."""


class Tree:
    def __init__(self, source: pathlib.Path, root: pathlib.Path) -> None:
        self.root = root
        self.build_folder = root / "build" / PRESET
        shutil.copytree(source, root, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("build", ".git", ".cache", "__pycache__"))
        # So that what one copy has compiled the next one, elsewhere, need not.
        self.environment = os.environ | {"CCACHE_BASEDIR": str(root), "CCACHE_NOHASHDIR": "1"}
        self._must("cmake", "--preset", PRESET)

    @contextlib.contextmanager
    def mutated(self, mutation: Mutation) -> Iterator[None]:
        originals = {edit.file: (self.root / edit.file).read_text() for edit in mutation.edits}
        try:
            for edit in mutation.edits:
                path = self.root / edit.file
                path.write_text(path.read_text().replace(edit.old, edit.new))
            yield
        finally:
            for file, text in originals.items():
                (self.root / file).write_text(text)

    def build(self, suites: Sequence[str]) -> str:
        """What the compiler says against it; empty if nothing."""
        targets = [f"{suite}_test" for suite in suites]
        built = self._run("cmake", "--build", str(self.build_folder), "--target", *targets)
        return "" if built.returncode == 0 else built.stdout

    def names(self, pattern: str) -> list[str]:
        """The tests that a filter selects."""
        listed = self._run("ctest", "--test-dir", str(self.build_folder), "-R", pattern,
                           "--show-only=json-v1")
        return [test["name"] for test in json.loads(listed.stdout)["tests"]]

    def failed(self, pattern: str, repeat: int = 1) -> list[str]:
        """Those of them that fail, each run until then but not more often than that."""
        report = self.build_folder / "mutant.xml"
        report.unlink(missing_ok=True)
        ran = self._run("ctest", "--test-dir", str(self.build_folder), "-R", pattern,
                        "--repeat", f"until-fail:{repeat}", "--output-junit", str(report))
        if not report.exists():
            raise TreeError(f"ctest wrote no report:\n{ran.stdout[-2000:]}")
        cases = xml.etree.ElementTree.parse(report).getroot().iter("testcase")
        return [case.attrib["name"] for case in cases if case.attrib["status"] != "run"]

    def _must(self, *command: str) -> None:
        done = self._run(*command)
        if done.returncode != 0:
            raise TreeError(f"{' '.join(command)}:\n{done.stdout[-2000:]}")

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=self.root, env=self.environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def any_of(mutations: Sequence[Mutation]) -> str:
    """One filter for all their tests."""
    return "|".join(dict.fromkeys(mutation.filter() for mutation in mutations))


def errors(compiler: str) -> str:
    """The first complaint, for one line."""
    found = re.search(r"error: .*", compiler)
    return found[0] if found else compiler.strip().splitlines()[-1]
