"""Shared fixtures and the Hypothesis profile: no deadlines (no timed assertions), the same examples in CI."""

from hypothesis import HealthCheck, settings

settings.register_profile("dreamd", deadline=None, max_examples=80, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dreamd")
