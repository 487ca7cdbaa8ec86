"""The only place that knows the order of the stages: take in, plan, extract, resolve, analyse, apply, render, publish."""

from pipelines.run.dream import Outcome, apply_dream, dream
from pipelines.run.parts import Params, Parts, Request

__all__ = ["Outcome", "Params", "Parts", "Request", "apply_dream", "dream"]
