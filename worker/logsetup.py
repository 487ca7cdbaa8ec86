"""One log pipe for structlog and the standard library: human on a terminal, JSON otherwise, always on standard error.

Events are constants, facts are fields; turns' text and secrets never belong in one.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, TextIO, TypeAlias

import structlog

from pipelines.errors import DreamdError

FRAMES_MAX = 12
"""Of one traceback in a line of a process that serves."""
_LOUD = ("celery.app.trace", "celery.worker.strategy", "celery.worker.request", "celery.pool", "kombu", "apscheduler", "alembic")
"""Libraries that write a line a task, some with the message's words; ours says more. From them only warnings are heard."""
_TALKATIVE = ("anthropic", "httpx2", "httpcore2")
"""Libraries whose finer lines hold what is sent: words of sessions, headers. They are never written, whatever level anybody sets, ANTHROPIC_LOG included."""

_ExcInfo: TypeAlias = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]


def configure(
    level: str = "warning", *, stream: TextIO | None = None, human: bool | None = None, mask: Callable[[bytes], bytes] | None = None
) -> None:  # fmt: skip
    """Route every log line of this process to one stream; calling it again replaces the pipe.

    With `mask` (of the same length; a process that serves, whose units may fail over anything) secrets are masked in whatever a line says, and a traceback tells kinds of errors
    and places in the code: the words of an error that is not ours may be a turn's.
    """
    out = stream or sys.stderr
    as_text = out.isatty() if human is None else human
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    render: structlog.typing.Processor = structlog.dev.ConsoleRenderer(colors=out.isatty()) if as_text else structlog.processors.JSONRenderer()
    handler = logging.StreamHandler(out)
    handler.addFilter(lambda record: record.levelno >= logging.WARNING or record.name.partition(".")[0] not in _TALKATIVE)
    # Tracebacks without locals: a local may hold a turn's text.
    failing: list[structlog.typing.Processor] = [structlog.processors.format_exc_info] if mask is None else [_wordless, _masking(mask)]
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_told_by, *shared], processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *failing, render]
        )
    )
    logging.getLogger("celery").setLevel(max(logging.INFO, logging.getLevelNamesMapping()[level.upper()]))
    for name in _LOUD:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(mask is not None)  # a library's warning is a line like any other
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _told_by(_logger: object, _method: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Name the library a line comes from."""
    record = line.get("_record")
    if record is not None:
        line["logger"] = record.name
    return line


def _wordless(_logger: object, _method: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Put kinds and places in the place of a traceback; a library's message about an error of somebody else quotes it, so only its name is left."""
    info = line.pop("exc_info", None)
    if not info:
        return line
    told: _ExcInfo = (type(info), info, info.__traceback__) if isinstance(info, BaseException) else info if isinstance(info, tuple) else sys.exc_info()
    line["exception"] = places(told[1])
    if "logger" in line and told[1] is not None:
        line["event"] = f"{line['logger']}: {type(told[1]).__name__}"
    return line


def places(error: BaseException | None) -> list[str]:
    """What was raised and where, the cause first; of our own errors also what they say."""
    out: list[str] = []
    while error is not None and len(out) < FRAMES_MAX:
        frames = [f"  {f.filename.rsplit('/', 1)[-1]}:{f.lineno} in {f.name}" for f in traceback.extract_tb(error.__traceback__)]
        said = f"{type(error).__name__}: {error}" if isinstance(error, DreamdError) else type(error).__name__
        out[:0] = [*frames, said]
        error = error.__cause__ or error.__context__
    return out[-FRAMES_MAX:]


def _masking(mask: Callable[[bytes], bytes]) -> structlog.typing.Processor:
    """The last thing before a line is written: no secret in any of its values. All of them are masked at once, since each call takes a millisecond."""

    def processor(_logger: object, _method: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
        texts: list[bytes] = []
        for name, value in line.items():
            if name not in _PLAIN:
                _gather(value, texts)
        masked = mask(b"\n".join(texts))  # of the same length, byte for byte
        parts, at = [], 0
        for text in texts:
            parts.append(masked[at : at + len(text)].decode("utf-8", "replace"))
            at += len(text) + 1
        left = iter(parts)
        return {name: value if name in _PLAIN else _with(value, left) for name, value in line.items()}

    return processor


def _gather(value: Any, texts: list[bytes]) -> None:
    """Every text within a value, in its order."""
    if isinstance(value, str):
        texts.append(value.encode("utf-8", "replace"))
    elif isinstance(value, list | tuple):
        for x in value:
            _gather(x, texts)
    elif isinstance(value, dict):
        for x in value.values():
            _gather(x, texts)


def _with(value: Any, texts: Iterator[str]) -> Any:
    """A value with these texts in the places of its own."""
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, list | tuple):
        return [_with(x, texts) for x in value]
    if isinstance(value, dict):
        return {name: _with(x, texts) for name, x in value.items()}
    return value


_PLAIN = frozenset({"level", "timestamp", "logger", "stage", "outcome", "dream"})
"""Fields that hold our own vocabulary."""
