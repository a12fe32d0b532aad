"""Payloads are shown without their secrets: by the names of fields, and by what a secret looks like."""

from __future__ import annotations

import pytest

from penstock.observe.payloads import redacted


def test_a_payload_without_secrets_is_shown_as_it_is() -> None:
    payload = {"document_id": "0199", "pages": [1, 2.5, None, True], "token_count": 12, "name": "Ada"}
    assert redacted(payload) == (payload, False)


@pytest.mark.parametrize(
    "payload",
    [
        {"password": "hunter2"},
        {"headers": {"Authorization": "Basic aHVudGVyMg=="}},
        {"nested": [{"api_key": "hunter2"}]},
        {"text": "my key is sk-0123456789abcdef hunter2"[:28]},
        {"url": "postgresql://ada:hunter2@db/x"},
        {"token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.c2lnbmF0dXJl"},
        {"text": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJodW50ZXIyIn0.c2lnbmF0dXJl"},
        {"aws": "AKIAIOSFODNN7EXAMPLE"},
        {"pem": "-----BEGIN RSA PRIVATE KEY-----"},
        ["pk_live_0123456789abcdef"],
    ],
)
def test_a_secret_is_left_out_wherever_it_stands(payload: object) -> None:
    shown, left_out = redacted(payload)
    assert left_out
    assert "[redacted]" in str(shown) or "***" in str(shown)
    for secret in ("hunter2", "aHVudGVyMg", "0123456789abcdef", "eyJzdWIi", "AKIAIOSF", "BEGIN RSA"):
        assert secret not in str(shown)


def test_a_deep_payload_ends_somewhere() -> None:
    payload: object = "bottom"
    for _ in range(500):
        payload = [payload]
    shown, left_out = redacted(payload)
    assert left_out
    assert "bottom" not in str(shown)
