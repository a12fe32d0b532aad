"""Both shapes of an envelope are read, and nothing else passes for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.processes.envelope import Envelope, MalformedEnvelope, read_envelope

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
ENVELOPE_LIKE = st.fixed_dictionaries(
    {},
    optional={
        "status": JSON | st.sampled_from(["succeeded", "failed"]),
        "success": JSON | st.booleans(),
        "error": JSON,
        "validation_failure_message": JSON,
        "payload": JSON,
        "more": JSON,
    },
)


@pytest.mark.parametrize(
    ("answer", "envelope"),
    [
        ({"status": "succeeded"}, Envelope(True, "succeeded")),
        ({"status": "succeeded", "payload": {"a": 1}}, Envelope(True, "succeeded", payload={"a": 1})),
        ({"status": "attempt_not_found"}, Envelope(False, "attempt_not_found")),
        (
            {"status": "bad_id", "validation_failure_message": "no such id"},
            Envelope(False, "bad_id", None, "no such id"),
        ),
        ({"success": True, "error": None, "payload": None}, Envelope(True, "succeeded")),
        ({"success": True, "error": "", "validation_failure_message": ""}, Envelope(True, "succeeded")),
        ({"success": False, "error": "broken"}, Envelope(False, "failed", "broken")),
        (
            {"success": False, "validation_failure_message": "never"},
            Envelope(False, "failed", None, "never"),
        ),
        ({"status": "stuck", "success": False}, Envelope(False, "stuck")),
        ({"status": "succeeded", "success": True}, Envelope(True, "succeeded")),
        ({"status": "Succeeded"}, Envelope(False, "Succeeded")),
    ],
)
def test_both_shapes_are_read(answer: dict[str, Any], envelope: Envelope) -> None:
    assert read_envelope(answer) == envelope


@pytest.mark.parametrize(
    ("answer", "field", "says"),
    [
        (None, "the answer", "null"),
        ([], "the answer", "a list"),
        ("succeeded", "the answer", "a text"),
        ({}, "status", "missing, and so is success"),
        ({"payload": {}}, "status", "missing"),
        ({"status": None, "success": None}, "status", "missing"),
        ({"status": ""}, "status", "an empty text"),
        ({"status": 1}, "status", "a number"),
        ({"status": True}, "status", "true or false"),
        ({"success": "true"}, "success", "not true or false"),
        ({"success": 1}, "success", "a number"),
        ({"success": True, "error": "broken"}, "error", "set on a success"),
        ({"status": "succeeded", "validation_failure_message": "no"}, "validation_failure_message", "set"),
        ({"status": "succeeded", "success": False}, "status", "while success is False"),
        ({"success": False, "error": {}}, "error", "an object"),
        ({"success": False, "validation_failure_message": 5}, "validation_failure_message", "a number"),
        ({"status": "succeeded", "payload": []}, "payload", "a list"),
        ({"status": "succeeded", "payload": "{}"}, "payload", "a text"),
    ],
    ids=json.dumps,
)
def test_a_malformed_envelope_is_reported_with_its_field(answer: object, field: str, says: str) -> None:
    with pytest.raises(MalformedEnvelope, match=says) as caught:
        read_envelope(answer)
    assert caught.value.field == field
    assert "Answer {" in str(caught.value)


@given(answer=JSON | ENVELOPE_LIKE)
def test_any_json_is_an_envelope_or_malformed_and_nothing_else(answer: object) -> None:
    try:
        envelope = read_envelope(answer)
    except MalformedEnvelope:
        return
    assert isinstance(answer, dict)
    assert envelope.succeeded == (answer.get("success") is True or answer.get("status") == "succeeded")
    assert envelope.reason
    assert isinstance(envelope.payload, dict)
