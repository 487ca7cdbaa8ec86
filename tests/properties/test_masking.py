"""Masking keeps length and structure, changes nothing twice, and does not depend on how lines are cut into chunks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.logs.redaction import Redactor
from tests.redacting import noise, private_key, shared_redactor, vendor_keys

_keys = vendor_keys()
_pieces = st.sampled_from(
    [*_keys.values(), private_key(3), private_key(3)[:150], "password", "token", "secret", "密码", "是", "is", "the", "=", ":", " ", "\n", "\t", '"', "'", "\\", "`",
     "hun" + "ter2", noise(24), "***", "//", "@", "a:b@c", "postgres://u:", "Bearer ", "-", "--password ", "é", "😀", "\u2028"]
)  # fmt: skip
_texts = st.lists(_pieces, max_size=12).map("".join)
_records = st.builds(
    lambda text, ascii_only, nest: json.dumps({"a": json.dumps([text]) if nest else text, "password": text}, ensure_ascii=ascii_only).encode(),
    _texts,
    st.booleans(),
    st.booleans(),
)
_lines = st.one_of(_records, _texts.map(lambda t: t.replace("\n", " ").encode()), st.binary(max_size=60).map(lambda b: b.replace(b"\n", b"")))


@pytest.fixture(scope="module")
def redactor(request: pytest.FixtureRequest) -> Redactor:
    return shared_redactor(request)


@given(lines=st.lists(_lines, max_size=5))
def test_masking_keeps_length_is_idempotent_and_works_line_by_line(redactor: Redactor, lines: list[bytes]) -> None:
    raw = b"".join(line + b"\n" for line in lines)
    masked = redactor.mask(raw)
    assert len(masked.data) == len(raw)
    assert [i for i, b in enumerate(masked.data) if b == 10] == [i for i, b in enumerate(raw) if b == 10]
    again = redactor.mask(masked.data)
    assert (again.data, again.count) == (masked.data, 0)
    assert masked.data == b"".join(redactor.mask(line + b"\n").data for line in lines)


@given(record=_records)
def test_a_masked_record_is_still_a_record_of_the_same_shape(redactor: Redactor, record: bytes) -> None:
    masked = redactor.mask(record).data
    assert json.loads(masked).keys() == json.loads(record).keys()
