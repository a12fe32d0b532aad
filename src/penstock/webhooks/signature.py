"""Signs and verifies webhooks by the Standard Webhooks specification, over the raw bytes of the body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets as randomness
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from penstock.net.errors import SignatureInvalid, WebhookSecretInvalid

PREFIX: Final = "whsec_"
ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
TOLERANCE_SECONDS: Final = 300

# Without the full stop, which separates id, timestamp and body in the signed content: with one in an id, the
# start of a body could pass for the end of the id.
_ID: Final = re.compile(r"[!-\-/-~]{1,256}", re.ASCII)
_TIMESTAMP: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_LONGEST_SIGNATURE_HEADER: Final = 4_096
_SECRET_BYTES: Final = range(24, 65)


@dataclass(frozen=True, slots=True)
class VerifiedMessage:
    """A verified message. Two deliveries with the same `replay_key` are the same signed message."""

    message_id: str
    timestamp: datetime
    replay_key: bytes


@dataclass(frozen=True, slots=True)
class SignedHeaders:
    """The three headers, well-formed but not verified."""

    message_id: str
    seconds: str
    signatures: tuple[bytes, ...]


def generate_secret() -> str:
    """A new secret of 32 random bytes."""
    return PREFIX + base64.b64encode(randomness.token_bytes(32)).decode()


def sign(secret: str | Sequence[str], message_id: str, timestamp: datetime, body: bytes) -> dict[str, str]:
    """The three headers of a message; with several secrets (a rotation), one signature by each."""
    if not _ID.fullmatch(message_id):
        raise SignatureInvalid(
            f"{ID} must be 1 to 256 visible ASCII characters without a full stop", "Use a UUID as the id"
        )
    seconds = str(int(timestamp.timestamp()))
    content = _signed(message_id, seconds, body)
    keys = [_key(each) for each in ([secret] if isinstance(secret, str) else secret)]
    return {
        ID: message_id,
        TIMESTAMP: seconds,
        SIGNATURE: " ".join("v1," + base64.b64encode(_hmac(key, content)).decode() for key in keys),
    }


def verify(
    secrets: Sequence[str],
    headers: Mapping[str, str],
    body: bytes,
    now: datetime,
    tolerance: int = TOLERANCE_SECONDS,
) -> VerifiedMessage:
    """The message if one of the secrets signed it recently; raises SignatureInvalid otherwise."""
    checking = SignatureCheck(secrets, read_signed(headers, now, tolerance))
    checking.update(body)
    return checking.finish()


def read_signed(
    headers: Mapping[str, str], now: datetime, tolerance: int = TOLERANCE_SECONDS
) -> SignedHeaders:
    """Parse the three headers and check the timestamp; needs no secret."""
    signed = _read(headers.items())
    age = now.timestamp() - int(signed.seconds)
    if age > tolerance:
        raise SignatureInvalid(f"{TIMESTAMP} is {age:.0f} s old", "Send it again with a new timestamp")
    if age < -tolerance:
        raise SignatureInvalid(f"{TIMESTAMP} is {-age:.0f} s ahead", "Set the sender's clock")
    return signed


class SignatureCheck:
    """Checks a signature while the body streams in, so that it need not be kept in memory."""

    def __init__(self, secrets: Sequence[str], signed: SignedHeaders) -> None:
        before = _signed(signed.message_id, signed.seconds, b"")
        self._given = signed
        self._macs = [hmac.new(_key(secret), before, "sha256") for secret in secrets]
        self._content = hashlib.sha256(before)

    def update(self, piece: bytes) -> None:
        for mac in self._macs:
            mac.update(piece)
        self._content.update(piece)

    def finish(self) -> VerifiedMessage:
        """The message if one of the secrets signed it; raises SignatureInvalid otherwise."""
        # No early exit: the time taken must not reveal which secret or signature matched.
        matches = [
            hmac.compare_digest(mac.digest(), given) for mac in self._macs for given in self._given.signatures
        ]
        if not any(matches):
            raise SignatureInvalid(
                f"{SIGNATURE} matches none of the secrets",
                "Check the name in the path, and the secret on both sides",
            )
        at = datetime.fromtimestamp(int(self._given.seconds), UTC)
        return VerifiedMessage(self._given.message_id, at, self._content.digest())


def _read(headers: Iterable[tuple[str, str]]) -> SignedHeaders:
    found: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        if lower in (ID, TIMESTAMP, SIGNATURE):
            if lower in found:
                raise SignatureInvalid(f"{lower} occurs twice", "Send each header once")
            found[lower] = value
    for name in (ID, TIMESTAMP, SIGNATURE):
        if not found.get(name):
            raise SignatureInvalid(f"{name} is missing", f"Send the header {name}")
    if not _ID.fullmatch(found[ID]):
        raise SignatureInvalid(f"{ID} is longer than 256 characters or has some that are not allowed")
    if not _TIMESTAMP.fullmatch(found[TIMESTAMP]):
        raise SignatureInvalid(f"{TIMESTAMP} is not a number of seconds")
    if len(found[SIGNATURE]) > _LONGEST_SIGNATURE_HEADER:
        raise SignatureInvalid(f"{SIGNATURE} is longer than {_LONGEST_SIGNATURE_HEADER} characters")
    signatures = [decoded for part in found[SIGNATURE].split(" ") if (decoded := _decoded(part)) is not None]
    if not signatures:
        raise SignatureInvalid(f"{SIGNATURE} has no signature of version v1")
    return SignedHeaders(found[ID], found[TIMESTAMP], tuple(signatures))


def _decoded(part: str) -> bytes | None:
    version, _, text = part.partition(",")
    if version != "v1":
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _key(secret: str) -> bytes:
    text = secret.removeprefix(PREFIX)
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise WebhookSecretInvalid("it is not base64") from None
    if len(key) not in _SECRET_BYTES:
        raise WebhookSecretInvalid(f"it has {len(key)} bytes")
    return key


def _signed(message_id: str, seconds: str, body: bytes) -> bytes:
    return f"{message_id}.{seconds}.".encode() + body


def _hmac(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")
