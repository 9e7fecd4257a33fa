"""Random trees are small, but a busy machine may be slow at any of them."""

from hypothesis import HealthCheck, settings

settings.register_profile("trees", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("trees")
