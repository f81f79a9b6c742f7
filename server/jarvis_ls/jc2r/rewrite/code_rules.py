"""The rules for a text that a model has written, before it is in any file."""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path

from jarvis_ls.jc2r.lift.rust import parse_source
from jarvis_ls.jc2r.rewrite.rules import Rule, Violation
from jarvis_ls.jc2r.rewrite.unsafe_reasons import unexplained
from jarvis_ls.jc2r.rewrite.uses import Use, find_paths_into, find_uses, shorten


def find_broken(
    code: str, before: str, modules: Set[str], foreign: Set[str], *, is_test: bool = False
) -> Iterator[Violation]:
    """Yield what breaks a rule in a text that takes the place of another, `before`. `modules` are
    those of the crate, `foreign` the crates that it must not name. A test may call C's entry in
    `unsafe` without saying why, also inside of an assertion."""
    known = {
        (use.rule, use.key) for use in find_uses(parse_source(Path(), before.encode()), modules)
    }
    source = parse_source(Path(), code.encode())
    for use in find_uses(source, modules):
        if (use.rule, use.key) not in known and not (is_test and _is_unsafe_argument(use)):
            yield Violation(use.rule, "", use.line, use.code)
    for path in find_paths_into(source, foreign):
        line = int(path.start_point[0]) + 1
        yield Violation(Rule.DEPENDENCY, "", line, shorten(source.text(path)))
    for block in () if is_test else unexplained(source, source.root):
        line = int(block.start_point[0]) + 1
        yield Violation(Rule.UNEXPLAINED_UNSAFE, "", line, shorten(source.text(block)))


def _is_unsafe_argument(use: Use) -> bool:
    """Return whether a use is `unsafe` among the arguments of a macro of the standard library."""
    return use.rule is Rule.MACRO and use.node.type == "token_tree"
