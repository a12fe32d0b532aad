"""A Postgres that accepts connections is distinguished from one that is starting, silent or gone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.db.embedded.ping import takes_connections


def refusal(sqlstate: bytes) -> bytes:
    fields = b"SFATAL\x00VFATAL\x00C" + sqlstate + b"\x00Mno\x00\x00"
    return b"E" + (4 + len(fields)).to_bytes(4, "big") + fields


PASSWORD_WANTED = b"R\x00\x00\x00\x17\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00"


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[tuple[Path, socket.socket]]:
    with socket.socket(socket.AF_UNIX) as peer:
        peer.bind(str(tmp_path / "socket"))
        peer.listen()
        yield tmp_path / "socket", peer


@pytest.mark.parametrize(
    ("pieces", "ready"),
    [
        ([PASSWORD_WANTED], True),
        ([PASSWORD_WANTED[:3], PASSWORD_WANTED[3:]], True),
        ([refusal(b"53300")], True),
        ([refusal(b"57P03")], False),
        ([refusal(b"57P03")[:12], refusal(b"57P03")[12:]], False),
        ([], False),
    ],
    ids=["password", "in pieces", "too many connections", "starting", "starting, in pieces", "hangs up"],
)
def test_any_answer_except_starting_up_means_ready(
    pieces: list[bytes], ready: bool, listening: tuple[Path, socket.socket]
) -> None:
    path, server = listening

    def answer() -> None:
        peer, _ = server.accept()
        with peer:
            peer.recv(4096)
            for piece in pieces:
                peer.sendall(piece)

    thread = threading.Thread(target=answer)
    thread.start()
    assert takes_connections(path) is ready
    thread.join(10)


def test_silence_is_not_waited_for_longer_than_asked(listening: tuple[Path, socket.socket]) -> None:
    assert takes_connections(listening[0], 0.05) is False


def test_without_a_socket_there_is_no_server(tmp_path: Path) -> None:
    assert takes_connections(tmp_path / "socket") is False
