"""What Hypothesis takes from our sources while C and Rust are compared: nothing."""

from __future__ import annotations

from hypothesis.internal.conjecture.providers import HypothesisProvider

from jarvis_ls.jc2r.equivalence.own_constants import without_own_constants


def _constants() -> int:
    return len(HypothesisProvider(None)._local_constants)


def test_no_constants_of_our_sources_are_tried_meanwhile_and_all_again_behind_it() -> None:
    before = _constants()
    assert before > 0, "where Hypothesis takes none of a checkout any more, this can go"
    with without_own_constants():
        assert _constants() == 0
    assert _constants() == before
