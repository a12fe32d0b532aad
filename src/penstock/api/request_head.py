"""Rejects a request head that is too large before any of it is parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import h11

if TYPE_CHECKING:
    from h11._connection import NEED_DATA, PAUSED
    from h11._events import Event

LONGEST_HEAD: Final = 65_536
"""The maximum bytes of a request before its body: method, target and headers together."""
MOST_LINES: Final = 200
"""The maximum number of lines: the request line and the headers."""

TOO_LARGE: Final = 431


class BoundedConnection(h11.Connection):
    """h11's server side; `status_hint` says why the last head was rejected."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, max_incomplete_event_size=LONGEST_HEAD)
        self.status_hint = 400

    def next_event(self) -> Event | type[NEED_DATA] | type[PAUSED]:
        try:
            if self.their_state is h11.IDLE:
                _check(self.trailing_data[0])
            return super().next_event()
        except h11.RemoteProtocolError as refused:
            self.status_hint = refused.error_status_hint
            raise


def _check(received: bytes) -> None:
    ends = [received.find(blank, 0, LONGEST_HEAD + len(blank)) for blank in (b"\n\r\n", b"\n\n")]
    end = min((end for end in ends if end >= 0), default=len(received))
    if end > LONGEST_HEAD:
        raise h11.RemoteProtocolError("the head is too long", error_status_hint=TOO_LARGE)
    if received.count(b"\n", 0, end) >= MOST_LINES:
        raise h11.RemoteProtocolError("the head has too many lines", error_status_hint=TOO_LARGE)
