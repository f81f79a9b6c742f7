"""Profiles of Hypothesis, and how many examples large properties try."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.support.stamps import FULL

ORDINARY = 100
"""Examples of a large property in an ordinary run; `JARVIS_TESTS_FULL=1` tries all."""


def examples(number: int) -> int:
    """Return how many of a large property's examples this run tries."""
    return number if FULL else min(number, ORDINARY)


def load_profile() -> None:
    """No test fails because the machine is busy; Hypothesis' own profile for CI says the same."""
    if settings.get_current_profile_name() != "default":
        return
    settings.register_profile(
        "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("patient")
