"""The command line of scripts/mutants."""
from __future__ import annotations

import argparse
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence

from .mutation import ListError, Mutation, read_all
from .outcome import attempt
from .tree import Tree, TreeError, any_of, errors

DESCRIPTION = """\
Makes the mistakes that tools/mutants/*.toml lists, one at a time, in a copy of the source, builds
the tests that are to notice it and runs them. Exits with 1 if a mistake that must be noticed is
not, or if a list no longer fits the source; with 2 if the tests fail without any mistake.
"""


def main(root: pathlib.Path) -> int:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the copy is removed
    try:
        chosen = [mutation for mutation in read_all(root / "tools" / "mutants")
                  if re.search(options.only, mutation.name)]
        if not chosen:
            raise ListError(f"no mutation is called like {options.only!r}")
        if options.list:
            return _list(root, chosen)
        return _try_all(root, chosen, options.keep)
    except (ListError, TreeError) as problem:
        print(f"mutants: {problem}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nmutants: interrupted", file=sys.stderr)
    return 2


def _list(root: pathlib.Path, chosen: Sequence[Mutation]) -> int:
    problems = [f"{mutation.name}: {problem}" for mutation in chosen
                if (problem := mutation.problem(root))]
    print("\n".join(mutation.row() for mutation in chosen))
    print("\n".join(problems), end="\n" if problems else "", file=sys.stderr)
    return 1 if problems else 0


def _try_all(root: pathlib.Path, chosen: Sequence[Mutation], keep: bool) -> int:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-mutants-"))
    try:
        tree = Tree(root, folder)
        _expect_health(tree, chosen)
        surprises = 0
        for mutation in chosen:
            began = time.monotonic()
            outcome = attempt(tree, mutation)
            surprises += not outcome.as_expected
            print(f"{outcome.word}: {mutation.name} ({time.monotonic() - began:.0f} s)")
            for line in outcome.lines:
                print(f"    {line}")
            sys.stdout.flush()
        print(f"{len(chosen)} mutations, {len(chosen) - surprises} as expected")
        return 1 if surprises else 0
    finally:
        if keep:
            print(f"mutants: the copy is in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)


def _expect_health(tree: Tree, chosen: Sequence[Mutation]) -> None:
    """A test that fails anyway would catch everything."""
    compiler = tree.build(sorted({mutation.suite for mutation in chosen}))
    if compiler:
        raise TreeError(f"the source does not build as it is: {errors(compiler)}")
    failed = tree.failed(any_of(chosen))
    if failed:
        raise TreeError("these tests fail as it is:\n" + "\n".join(failed))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/mutants", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--only", default="", metavar="REGEX", help="mutations with such a name")
    add("--list", action="store_true", help="the table of docs/testing.md, and whether all still fit the source")
    add("--keep", action="store_true", help="leave the copy, and say where it is")
    return parser.parse_args()
