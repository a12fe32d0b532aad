"""Names of folders as IMAP writes them: UTF-7 with `&` (RFC 3501, 5.1.3)."""

from __future__ import annotations

import base64


def encoded(name: str) -> str:
    """The name in ASCII."""
    done: list[str] = []
    waiting: list[str] = []

    def flush() -> None:
        if waiting:
            packed = base64.b64encode("".join(waiting).encode("utf-16-be", "surrogatepass"))
            done.append("&" + packed.decode().rstrip("=").replace("/", ",") + "-")
            waiting.clear()

    for character in name:
        if " " <= character <= "~":
            flush()
            done.append("&-" if character == "&" else character)
        else:
            waiting.append(character)
    flush()
    return "".join(done)
