"""A webhook's signature proves who sent it, when, and that no bit of it changed."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook
from starlette.datastructures import Headers

from penstock.net import SignatureInvalid, WebhookSecretInvalid
from penstock.webhooks.signature import generate_secret, sign, verify

SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
BODY = b'{"document": "\xe2\x82\xac"}'


def headers(**changes: str | None) -> dict[str, str]:
    signed: dict[str, str | None] = {**sign(SECRET, "msg_1", NOW, BODY)}
    signed |= {f"webhook-{name}": value for name, value in changes.items()}
    return {name: value for name, value in signed.items() if value is not None}


def test_a_signature_is_verified_with_its_id_and_time() -> None:
    message = verify([SECRET], headers(), BODY, NOW)
    assert (message.message_id, message.timestamp) == ("msg_1", NOW)
    assert len(message.replay_key) == 32


def test_the_standard_webhooks_library_accepts_our_signature_and_we_accept_its() -> None:
    now = datetime.now(UTC)
    theirs = Webhook(SECRET)
    assert theirs.verify(BODY, sign(SECRET, "msg_1", now, BODY)) == json.loads(BODY)
    signature = theirs.sign("msg_2", now, BODY.decode())
    given_headers = {
        "webhook-id": "msg_2",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signature,
    }
    assert verify([SECRET], given_headers, BODY, now).message_id == "msg_2"


@pytest.mark.parametrize("body", [b"", b"\xff\x00%PDF-1.7", b"." * 10])
def test_any_bytes_can_be_a_body(body: bytes) -> None:
    assert verify([SECRET], sign(SECRET, "msg_1", NOW, body), body, NOW).message_id == "msg_1"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id": None}, "webhook-id is missing"),
        ({"timestamp": None}, "webhook-timestamp is missing"),
        ({"signature": None}, "webhook-signature is missing"),
        ({"signature": ""}, "webhook-signature is missing"),
        ({"id": "msg_2"}, "matches none"),
        ({"id": "msg.1"}, "webhook-id"),
        ({"id": "x" * 257}, "webhook-id"),
        ({"id": "msg\n1"}, "webhook-id"),
        ({"timestamp": str(int(NOW.timestamp()) + 1)}, "matches none"),
        ({"timestamp": "1e9"}, "number of seconds"),
        ({"timestamp": "nan"}, "number of seconds"),
        ({"timestamp": "١٢٣"}, "number of seconds"),
        ({"timestamp": "-5"}, "number of seconds"),
        ({"signature": "v1,"}, "matches none"),
        ({"signature": "v1,not base64!"}, "no signature"),
        ({"signature": "v1"}, "matches none"),
        ({"signature": "v1," + base64.b64encode(b"x" * 32).decode()}, "matches none"),
        ({"signature": "v1,AA== " * 2_000}, "longer than"),
    ],
)
def test_a_forgery_is_refused_and_says_why(changes: dict[str, str | None], reason: str) -> None:
    with pytest.raises(SignatureInvalid, match=reason) as refused:
        verify([SECRET], headers(**changes), BODY, NOW)
    assert refused.value.remedy


def test_a_signature_of_another_version_does_not_count() -> None:
    other = headers()["webhook-signature"].replace("v1,", "v1a,")
    with pytest.raises(SignatureInvalid, match="version v1"):
        verify([SECRET], headers(signature=other), BODY, NOW)


def test_the_same_json_written_differently_is_another_body() -> None:
    with pytest.raises(SignatureInvalid):
        verify([SECRET], headers(), json.dumps(json.loads(BODY)).encode(), NOW)


@given(st.integers(0, len(BODY) * 8 - 1))
def test_no_bit_of_the_body_can_change(bit: int) -> None:
    changed = bytearray(BODY)
    changed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(SignatureInvalid):
        verify([SECRET], headers(), bytes(changed), NOW)


@pytest.mark.parametrize("seconds", [-300, 300])
def test_five_minutes_of_clock_difference_are_taken(seconds: int) -> None:
    verify([SECRET], headers(), BODY, NOW + timedelta(seconds=seconds))


@pytest.mark.parametrize(("seconds", "reason"), [(301, "301 s old"), (-301, "301 s ahead")])
def test_more_than_five_minutes_are_not(seconds: int, reason: str) -> None:
    with pytest.raises(SignatureInvalid, match=reason):
        verify([SECRET], headers(), BODY, NOW + timedelta(seconds=seconds))


def test_a_repeated_header_is_refused() -> None:
    pairs = [*headers().items(), ("Webhook-Id", "msg_2")]
    raw = [(name.lower().encode(), value.encode()) for name, value in pairs]
    with pytest.raises(SignatureInvalid, match="twice"):
        verify([SECRET], Headers(raw=raw), BODY, NOW)


def test_header_names_are_read_in_any_case() -> None:
    verify([SECRET], {name.title(): value for name, value in headers().items()}, BODY, NOW)


def test_while_secrets_rotate_nobody_is_refused() -> None:
    old, new = generate_secret(), generate_secret()
    for sender in (old, new, [old, new], [new, old]):
        for receiver in ([old, new], [new, old]):
            verify(receiver, sign(sender, "msg_1", NOW, BODY), BODY, NOW)
    for sender, receiver in ((old, [new]), (new, [old])):
        with pytest.raises(SignatureInvalid):
            verify(receiver, sign(sender, "msg_1", NOW, BODY), BODY, NOW)


def test_without_a_secret_nothing_is_verified() -> None:
    with pytest.raises(SignatureInvalid):
        verify([], headers(), BODY, NOW)


def test_the_replay_key_is_the_same_for_the_same_signed_message_alone() -> None:
    other = generate_secret()
    first = verify([SECRET], headers(), BODY, NOW).replay_key
    later = verify(
        [SECRET, other], sign([other, SECRET], "msg_1", NOW, BODY), BODY, NOW + timedelta(seconds=9)
    )
    assert later.replay_key == first  # whatever the signature header looks like
    for message_id, at, body in (
        ("msg_2", NOW, BODY),
        ("msg_1", NOW + timedelta(seconds=1), BODY),
        ("msg_1", NOW, BODY + b" "),
    ):
        changed = verify([SECRET], sign(SECRET, message_id, at, body), body, NOW)
        assert changed.replay_key != first


def test_a_body_cannot_be_mistaken_for_the_end_of_an_id() -> None:
    body = f"{int(NOW.timestamp())}.rest".encode()
    signed = sign(SECRET, "msg_1", NOW, body)
    shifted = {**signed, "webhook-id": f"msg_1.{signed['webhook-timestamp']}"}
    with pytest.raises(SignatureInvalid):
        verify([SECRET], shifted, b"rest", NOW)


def test_generated_secrets_are_32_random_bytes() -> None:
    secrets = {generate_secret() for _ in range(100)}
    assert len(secrets) == 100
    for secret in secrets:
        assert secret.startswith("whsec_")
        assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_c2hvcnQ=", "whsec_!!!", "whsec_" + "A" * 200])
def test_an_invalid_secret_is_refused_without_showing_it(secret: str) -> None:
    with pytest.raises(WebhookSecretInvalid) as refused:
        sign(secret, "msg_1", NOW, BODY)
    assert "whsec_and" not in str(refused.value)
    assert "c2hvcnQ" not in str(refused.value)
