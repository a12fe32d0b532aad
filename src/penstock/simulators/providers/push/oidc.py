"""Identity tokens as Google signs them for Pub/Sub's pushes, and the keys to check them with."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, get_args

Token: TypeAlias = Literal[
    "good",
    "missing",
    "garbage",
    "wrong_audience",
    "wrong_account",
    "unverified",
    "wrong_issuer",
    "expired",
    "other_key",
    "unsigned",
    "shared_secret",
]
TOKENS: Final[tuple[str, ...]] = get_args(Token)
ISSUER: Final = "https://accounts.google.com"
_HOUR: Final = 3_600


class Signer:
    """A key pair and tokens signed with it; `kind` makes the tokens wrong in one way."""

    def __init__(self, now: Callable[[], datetime], key_id: str = "simulated-key-1") -> None:
        self._now = now
        self.key_id = key_id
        self._made: dict[tuple[str, ...], tuple[float, str]] = {}

    @cached_property
    def _key(self) -> Any:
        from cryptography.hazmat.primitives.asymmetric import rsa

        return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)

    @cached_property
    def _other(self) -> Signer:
        return Signer(self._now, self.key_id)

    def rotate(self) -> str:
        """A new key under a new id; tokens signed with the earlier one no longer verify."""
        number = int(self.key_id.rpartition("-")[2]) + 1
        self.key_id = f"simulated-key-{number}"
        self.__dict__.pop("_key", None)
        self._made.clear()
        return self.key_id

    def certificates(self) -> dict[str, Any]:
        """The public keys as a JSON Web Key Set."""
        public = self._key.public_key().public_numbers()
        key = {
            "kty": "RSA",
            "alg": "RS256",
            "use": "sig",
            "kid": self.key_id,
            "n": _number(public.n),
            "e": _number(public.e),
        }
        return {"keys": [key]}

    def authorization(self, kind: Token, audience: str, account: str) -> str | None:
        """The value of the header Authorization; none if there is to be none."""
        match kind:
            case "missing":
                return None
            case "garbage":
                return "Bearer garbage.that.verifies-nowhere"
            case _:
                return f"Bearer {self._token(kind, audience, account)}"

    def _token(self, kind: Token, audience: str, account: str) -> str:
        # Signing takes a millisecond, and Google uses a token for many pushes, too.
        now, key = self._now().timestamp(), (kind, audience, account)
        made = self._made.get(key)
        if made is None or not made[0] - 60 < now < made[0] + 300:
            made = self._made[key] = (now, self._signed(kind, audience, account, int(now)))
        return made[1]

    def _signed(self, kind: Token, audience: str, account: str, now: int) -> str:
        if kind == "other_key":
            return self._other._signed("good", audience, account, now)
        issued = now - 3 * _HOUR if kind == "expired" else now
        claims = {
            "aud": "https://somebody.example/push" if kind == "wrong_audience" else audience,
            "azp": "113774264463038321964",
            "email": f"other-{account}" if kind == "wrong_account" else account,
            "email_verified": kind != "unverified",
            "exp": issued + _HOUR,
            "iat": issued,
            "iss": "https://accounts.example" if kind == "wrong_issuer" else ISSUER,
            "sub": "113774264463038321964",
        }
        algorithm = {"unsigned": "none", "shared_secret": "HS256"}.get(kind, "RS256")
        head = {"alg": algorithm, "kid": self.key_id, "typ": "JWT"}
        content = f"{_packed(head)}.{_packed(claims)}"
        return f"{content}.{_encoded(self._signature(algorithm, content.encode()))}"

    def _signature(self, algorithm: str, content: bytes) -> bytes:
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import padding

        if algorithm == "none":
            return b""
        if algorithm == "HS256":  # the public key as a shared secret: a known attack
            public = self._key.public_key().public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
            return hmac.digest(public, content, hashlib.sha256)
        signature: bytes = self._key.sign(content, padding.PKCS1v15(), hashes.SHA256())
        return signature


def _number(value: int) -> str:
    return _encoded(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def _packed(value: dict[str, Any]) -> str:
    return _encoded(json.dumps(value, separators=(",", ":")).encode())


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
