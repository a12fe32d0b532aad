"""Checks whether a Postgres on a Unix socket accepts connections, like pg_isready, without a subprocess."""

from __future__ import annotations

import socket
from pathlib import Path

# Protocol 3.0; the server answers with a password request, whether or not there is a role "postgres".
_PARAMETERS = b"user\x00postgres\x00database\x00postgres\x00\x00"
_STARTUP = (8 + len(_PARAMETERS)).to_bytes(4, "big") + (3 << 16).to_bytes(4, "big") + _PARAMETERS

_CANNOT_CONNECT_NOW = b"57P03"
"""The SQLSTATE of a server that is starting, recovering or shutting down."""


def takes_connections(path: Path, seconds: float = 5) -> bool:
    """Whether the server answers in time; one that rejects our login is still ready."""
    try:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(seconds)
            peer.connect(str(path))
            peer.sendall(_STARTUP)
            answer = _message(peer)
    except OSError:
        return False
    if answer[:1] == b"E":
        fields = answer[5:].split(b"\x00")
        return b"C" + _CANNOT_CONNECT_NOW not in fields
    return answer[:1] == b"R"


def _message(peer: socket.socket) -> bytes:
    """The server's first message, or as much as arrived before the server hung up."""
    answer = b""
    while len(answer) < 5 or len(answer) < 1 + int.from_bytes(answer[1:5], "big"):
        piece = peer.recv(4096)
        if not piece:
            break
        answer += piece
    return answer
