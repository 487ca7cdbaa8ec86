"""The only place that knows the order of the stages: take in, read, resolve, assess, apply, render, publish."""

from pipelines.run.dream import Outcome, dream
from pipelines.run.parts import Parts, Request

__all__ = ["Outcome", "Parts", "Request", "dream"]
