"""One mistake that somebody could make, and the tests that are to notice it."""
from __future__ import annotations

import dataclasses
import pathlib
import tomllib
from typing import Any


class ListError(Exception):
    """A list of mutations cannot be used; the text says why."""


@dataclasses.dataclass(frozen=True)
class Edit:
    file: str  # below the root of the source
    old: str   # there exactly once
    new: str

    def problem(self, root: pathlib.Path) -> str:
        """Why it does not apply; empty if it does."""
        path = root / self.file
        if not path.is_file():
            return f"{self.file} is not there"
        found = path.read_text().count(self.old)
        line = self.old.strip().splitlines()[0]
        return "" if found == 1 else f"{self.file} has {found} times `{line}`, not once"


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    why: str    # what it breaks
    suite: str  # the folder of tests/ that is built and run
    tests: str  # those of it that notice: the beginnings of their names, as ctest -R takes them
    edits: tuple[Edit, ...]
    repeat: int = 1     # runs of a test; a race is not lost each time
    survives: str = ""  # why no test can notice; empty where one must

    def filter(self) -> str:
        return f"^{self.suite}: ?({self.tests})"

    def row(self) -> str:
        """Its line in the table of docs/testing.md."""
        by = "; ".join(self.tests.split("|")) if not self.survives else f"nobody: {self.survives}"
        return f"| {self.name} | {by} |"

    def problem(self, root: pathlib.Path) -> str:
        return "; ".join(filter(None, (edit.problem(root) for edit in self.edits)))


def read_all(folder: pathlib.Path) -> list[Mutation]:
    """From every list in the folder, in the order of the files and within them."""
    found = []
    for file in sorted(folder.glob("*.toml")):
        try:
            entries = tomllib.loads(file.read_text())["mutation"]
            found += [_mutation(entry) for entry in entries]
        except (tomllib.TOMLDecodeError, KeyError, TypeError) as problem:
            raise ListError(f"{file.name}: {problem!r}") from problem
    names = [mutation.name for mutation in found]
    for name in names:
        if names.count(name) > 1:
            raise ListError(f"{name!r} is there twice")
    return found


def _mutation(entry: dict[str, Any]) -> Mutation:
    edits = tuple(Edit(**edit) for edit in entry.pop("edit"))
    return Mutation(edits=edits, **entry)
