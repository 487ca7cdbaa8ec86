"""A redactor for tests, its compiled rules cached between runs, and secrets made when the tests run (so that no scanner finds any here)."""

from __future__ import annotations

import base64
import json
import random
import string
from functools import cache
from pathlib import Path

import pytest

from pipelines.logs.redaction import Redactor, open_redactor

LETTERS = string.ascii_letters + string.digits


@cache
def _open(folder: Path) -> Redactor:
    return open_redactor(folder)


def rule_cache(request: pytest.FixtureRequest) -> Path:
    """The folder compiled rules are kept in between runs; also fit for XDG_CACHE_HOME."""
    cache_of_pytest = request.config.cache
    assert cache_of_pytest is not None
    folder = Path(str(cache_of_pytest.mkdir("dreamd-rules")))
    folder.chmod(0o700)
    return folder


def shared_redactor(request: pytest.FixtureRequest) -> Redactor:
    """One redactor a test process."""
    return _open(rule_cache(request))


def noise(length: int, alphabet: str = LETTERS, *, seed: int = 0) -> str:
    """Random characters, the same for the same arguments."""
    rng = random.Random(f"{length} {alphabet} {seed}")
    return "".join(rng.choice(alphabet) for _ in range(length))


def vendor_keys() -> dict[str, str]:
    """A key of each vendor's shape."""
    url = LETTERS + "_-"
    return {
        "anthropic": "sk-" + "ant-api03-" + noise(93, url) + "AA",
        "anthropic oauth": "sk-" + "ant-oat01-" + noise(80, url) + "A",
        "openai project": "sk-" + "proj-" + noise(120, url) + "A",
        "google client secret": "GOC" + "SPX-" + noise(28),
        "google api": "AI" + "za" + noise(35),
        "telegram": "12345" + "67890:AA" + noise(33),
        "github": "gh" + "p_" + noise(36),
        "github fine-grained": "github" + "_pat_" + noise(82),
        "slack": "xo" + "xb-1234567890-" + noise(24),
        "aws": "AK" + "IA" + noise(16, string.ascii_uppercase + "234567"),
        "stripe": "sk" + "_live_" + noise(24),
        "gitlab": "gl" + "pat-" + noise(20),
        "npm": "np" + "m_" + noise(36),
        "hugging face": "h" + "f_" + noise(34),
        "jwt": json_web_token(),
    }


def json_web_token() -> str:
    """Header, payload and a signature that signs nothing."""
    parts = [json.dumps({"alg": "HS256", "typ": "JWT"}), json.dumps({"sub": noise(8), "name": "Ana"})]
    return ".".join([*(base64.urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in parts), noise(43)])


def private_key(lines: int = 12) -> str:
    """A block of the shape of a PEM private key."""
    body = "\n".join(noise(64, LETTERS + "+/", seed=i) for i in range(lines))
    return "-----BEGIN RSA " + "PRIVATE KEY-----\n" + body + "\n-----END RSA " + "PRIVATE KEY-----\n"
