"""Decides which fields are redacted by name and removes secrets from free text."""

import re
from functools import lru_cache

REDACTED = "[redacted]"
TEXT_LIMIT = 2_000
# Only this much of a text is scanned: twice the limit, since redaction shortens it.
_SCANNED = 2 * TEXT_LIMIT
# The scanned part may end within a URL whose password is then not recognisable.
_UNSURE = 500

_SECRET_STEMS = (
    "password",
    "passwd",
    "passphrase",
    "secret",
    "authorization",
    "credential",
    "cookie",
    "apikey",
    "privatekey",
    "accesskey",
    "signingkey",
    "encryptionkey",
)
_SECRET_ENDINGS = ("token", "tokens", "payload", "payloads")
_SECRET_WORDS = frozenset({"pwd", "jwt", "bearer"})
# `token_count=12` and `payload_bytes=900` are useful figures; only numbers are let through.
_MEASURES = frozenset({"count", "counts", "bytes", "size", "length", "limit", "total", "seconds", "tokens"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NOT_WORD = re.compile(r"[^a-z0-9]+")

# A colon followed by digits and the end of the authority is a port; anything else up to the last "@" is a
# password, even one with an unescaped "@" or "/".
_WORD_WITH_AT = re.compile(r"\S++")
_URL_LOGIN = re.compile(r"://[^\s/?#:@]*+:(?!\d*+(?:[/?#\s\"']|$))")
_ASSIGNED_SECRET = re.compile(
    r"((?:passwords?|passwd|passphrase|pwd|secret|token|api[_-]?key|signature|credentials?)"
    r"(?:\s*=|[\"']\s*:)\s*)"
    r"(?:b?\"[^\"]*\"|b?'[^']*'|[^\s&,;)}\]]+)",
    re.IGNORECASE,
)
_AUTHORIZATION = re.compile(
    r"(authorization[\"']?\s*[=:,]\s*[\"']?(?:[a-z]+\s+)?|\bbearer\s+)[\w.~+/=:-]{4,}", re.IGNORECASE
)
_SHORTEST_HEADER = len("bearer xxxx")
_PAYLOAD = re.compile(r"(payload(?:\s*=|[\"']\s*:)\s*).+", re.IGNORECASE | re.DOTALL)


def hides(name: str, value: object) -> bool:
    """Whether the value of a field with this name must be redacted."""
    secret, measure = _classify(name)
    if not secret:
        return False
    return not (measure and type(value) in (int, float))


def scrub(text: str) -> str:
    """The text without passwords, tokens and payloads, cut to the limit."""
    cut = len(text) > _SCANNED
    text = text[:_SCANNED]
    if "@" in text:
        text = _WORD_WITH_AT.sub(_without_password, text)
    if "=" in text or ":" in text:
        text = _ASSIGNED_SECRET.sub(rf"\1{REDACTED}", text)
        text = _PAYLOAD.sub(rf"\1{REDACTED}", text)
    if len(text) >= _SHORTEST_HEADER:
        lowered = text.lower()
        if "authorization" in lowered or "bearer" in lowered:
            text = _AUTHORIZATION.sub(rf"\1{REDACTED}", text)
    if cut:
        text = text[:-_UNSURE]
    if cut or len(text) > TEXT_LIMIT:
        return text[: TEXT_LIMIT - 3] + "..."
    return text


def _without_password(word: re.Match[str]) -> str:
    """A URL without the password between its first login and the last "@"."""
    before, at, after = word[0].rpartition("@")
    login = _URL_LOGIN.search(before + at) if at else None
    return word[0] if login is None else f"{before[: login.end()]}***@{after}"


@lru_cache(maxsize=4_096)
def _classify(name: str) -> tuple[bool, bool]:
    words = _NOT_WORD.split(_CAMEL.sub("_", name[:200]).lower())
    joined = "".join(words)
    secret = (
        any(stem in joined for stem in _SECRET_STEMS)
        or any(word.endswith(_SECRET_ENDINGS) for word in words)
        or not _SECRET_WORDS.isdisjoint(words)
    )
    return secret, not _MEASURES.isdisjoint(words)
