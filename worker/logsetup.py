"""One log pipe for structlog and the standard library: human on a terminal, JSON otherwise, always on standard error.

Events are constants, facts are fields; turns' text and secrets never belong in one.
"""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog


def configure(level: str = "warning", *, stream: TextIO | None = None, human: bool | None = None) -> None:
    """Route every log line of this process to one stream; calling it again replaces the pipe."""
    out = stream or sys.stderr
    as_text = out.isatty() if human is None else human
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    render: structlog.typing.Processor = structlog.dev.ConsoleRenderer(colors=out.isatty()) if as_text else structlog.processors.JSONRenderer()
    handler = logging.StreamHandler(out)
    # Tracebacks without locals: a local may hold a turn's text.
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, structlog.processors.format_exc_info, render],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
