"""The engine that needs no key and no network: rules and values."""

from pipelines.engines.local.engine import LocalEngine

__all__ = ["LocalEngine"]
