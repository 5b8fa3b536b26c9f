"""What became of one mutation."""
from __future__ import annotations

import dataclasses

from .mutation import Mutation
from .tree import Tree, errors


@dataclasses.dataclass(frozen=True)
class Outcome:
    word: str
    as_expected: bool
    lines: list[str]  # the tests, or what went wrong


def attempt(tree: Tree, mutation: Mutation) -> Outcome:
    problem = mutation.problem(tree.root)
    if problem:
        return Outcome("DOES NOT APPLY", False, [problem])
    selected = tree.names(mutation.filter())
    if not selected:
        return Outcome("NO SUCH TEST", False, [mutation.filter()])
    with tree.mutated(mutation):
        compiler = tree.build([mutation.suite])
        if compiler:
            return Outcome("DOES NOT BUILD", False, [errors(compiler)])
        failed = tree.failed(mutation.filter(), mutation.repeat)
    if failed:
        # To catch one that was thought to be out of reach is no failure, but worth knowing.
        word = "caught after all" if mutation.survives else "caught"
        missed = [f"not by {name}" for name in selected if name not in failed]
        return Outcome(word, True, [f"by {name}" for name in failed] + missed)
    if mutation.survives:
        return Outcome("survived, as it must", True, [mutation.survives])
    return Outcome("SURVIVED", False, [f"not noticed by {name}" for name in selected])
