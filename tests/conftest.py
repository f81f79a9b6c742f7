"""What holds for all tests."""

from hypothesis import HealthCheck, settings

# No test fails because the machine is busy; Hypothesis' own profile for CI says the same.
if settings.get_current_profile_name() == "default":
    settings.register_profile(
        "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("patient")
