"""One pipe: JSON when nobody is watching, and the standard library through the same formatter."""

import io
import json
import logging

import pytest
import structlog

from worker.logsetup import configure


def test_both_loggers_write_json_lines_with_their_fields() -> None:
    out = io.StringIO()
    configure("info", stream=out)
    structlog.get_logger("dreamd").info("dream_applied", dream="d1", notes=3)
    logging.getLogger("alembic").warning("old_revision")
    structlog.get_logger("dreamd").debug("not_shown")
    lines = [json.loads(x) for x in out.getvalue().splitlines()]
    assert [(x["event"], x["level"]) for x in lines] == [("dream_applied", "info"), ("old_revision", "warning")]
    assert lines[0]["notes"] == 3
    assert lines[0]["timestamp"].endswith("Z")


def test_a_traceback_shows_no_locals() -> None:
    out = io.StringIO()
    configure("info", stream=out)
    words = "what the user said"
    try:
        raise ValueError("bad") if words else None
    except ValueError:
        structlog.get_logger("dreamd").exception("unit_failed")
    assert "ValueError: bad" in json.loads(out.getvalue())["exception"]
    assert words not in out.getvalue()


def test_what_the_provider_s_library_says_of_a_request_is_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    configure("debug", stream=out)
    for name in ("anthropic._base_client", "httpx2", "httpcore2.http11"):
        logger = logging.getLogger(name)
        monkeypatch.setattr(logger, "level", logging.DEBUG)  # as ANTHROPIC_LOG=debug does when it is loaded
        logger.debug("Request options: the words of a session")
        logger.info("HTTP Request: POST")
    logging.getLogger("anthropic").warning("deprecated")
    assert [json.loads(x)["event"] for x in out.getvalue().splitlines()] == ["deprecated"]
