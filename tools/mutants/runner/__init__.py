"""Mutation testing by hand: tools/mutants/*.toml says what to break, this does it.

mutation  one mistake: its edits, and the tests that must notice
tree      a scratch copy of the source with a build of its own
outcome   what became of one mutation
main      the command line
"""
