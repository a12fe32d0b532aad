"""One connection to the API, with limits on the time of its requests and on the number of connections."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from penstock.api.envelope import finished_answer
from penstock.api.problem import HttpRefused
from penstock.api.request_head import LONGEST_HEAD, MOST_LINES, TOO_LARGE, BoundedConnection

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope, Send
    from uvicorn.server import ServerState

    from penstock.api.connection_limits import ConnectionLimits

_DRAIN_SECONDS: Final = 1.0
"""How long the rest of a rejected client's data is read and discarded."""
_REFUSED_SECONDS: Final = 2.0
"""How long a connection over the limit may take to send the request that is then rejected."""


class ServerConfig(uvicorn.Config):
    """uvicorn's configuration with our limits."""

    limits: ConnectionLimits


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol with one timer: for the head, then for the body; none while a handler runs.

    A request whose head and body arrive in one packet starts no timer at all.
    """

    def __init__(
        self,
        config: ServerConfig,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn: BoundedConnection = BoundedConnection()
        self._limits = config.limits
        self._timer: asyncio.TimerHandle | None = None
        self._phase: object = None
        self._unread: asyncio.TimerHandle | None = None
        self._body_since = 0.0
        self._body_bytes = 0
        self._refused = False

    def connection_made(  # type: ignore[override]  # as uvicorn has it
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        over = len(self.connections) - self._limits.connections
        if over > self._limits.refused_connections:
            self._refuse(self._too_many())
            return
        if over > 0:
            self.app = self._full
        self._phase = h11.IDLE
        seconds = self._limits.head_seconds
        self._arm(min(seconds, _REFUSED_SECONDS) if over > 0 else seconds, self._head_overdue)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self._stop_waiting_for_reader()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused or self.transport.is_closing():
            return
        self._body_bytes += len(data)
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self._stop_waiting_for_reader()

    def send_400_response(self, msg: str) -> None:
        """Answer invalid HTTP, or a head that is too large, with a problem."""
        if self.conn.status_hint == TOO_LARGE:
            refused = HttpRefused(
                "head-too-large",
                f"The request line and headers are over {LONGEST_HEAD} bytes or {MOST_LINES} lines",
                "Send less; put a long search into the body of POST /v1/search",
                field="head",
            )
        else:
            refused = HttpRefused("bad-request", "The request is not HTTP/1.1", "Send a valid request")
        self._refuse(refused)

    def _watch(self) -> None:
        """Start or stop the timer after the connection may have moved on."""
        if self._refused and not self.transport.is_closing():
            return
        if self.transport.is_closing():
            self._disarm()
            self._wait_for_reader()
            return
        state = self.conn.their_state
        if state is self._phase:
            return
        self._disarm()
        if state is h11.IDLE and self.timeout_keep_alive_task is None:
            self._phase = state
            self._arm(self._limits.head_seconds, self._head_overdue)
        elif state is h11.SEND_BODY:
            self._phase = state
            self._body_since, self._body_bytes = self.loop.time(), 0
            self._arm(self._limits.body_seconds, self._body_overdue)

    def _head_overdue(self) -> None:
        self._timer = None
        if not self.conn.trailing_data[0]:
            self._close()
            return
        self._refuse(
            HttpRefused(
                "timeout",
                f"The request line and headers were not complete after {self._limits.head_seconds:g} s",
                "Send it faster, or raise PENSTOCK_API_HEAD_SECONDS",
                field="head",
            )
        )

    def _body_overdue(self) -> None:
        """A body may take its base time, plus a second for each second's worth of bytes received."""
        limits, now = self._limits, self.loop.time()
        if (
            self.flow.read_paused
        ):  # we are the ones reading slowly: the client may continue when we have caught up
            self._body_since, self._body_bytes = now, 0
        allowed = limits.body_seconds + self._body_bytes / limits.body_bytes_per_second
        left = self._body_since + allowed - now
        if left > 0:
            self._arm(left, self._body_overdue)
            return
        self._timer = None
        self._refuse(
            HttpRefused(
                "timeout",
                f"The body arrived at less than {limits.body_bytes_per_second} bytes per second for "
                f"{limits.body_seconds:g} s",
                "Send it faster, or change PENSTOCK_API_BODY_SECONDS and PENSTOCK_API_BODY_BYTES_PER_SECOND",
                field="body",
            )
        )

    def _refuse(self, refused: HttpRefused) -> None:
        """Answer unless a response has started, tell the handler that the client is gone, and close."""
        cycle: RequestResponseCycle | None = self.cycle
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            answer = finished_answer(refused, instance="/" if cycle is None else self.scope["path"])
            headers = [*answer.raw_headers, (b"connection", b"close")]
            for event in (
                h11.Response(status_code=answer.status_code, headers=headers),
                h11.Data(data=bytes(answer.body)),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        self._disarm()
        # Closing at once with unread bytes would reset the connection and lose the response.
        self._refused = True
        self.transport.write_eof()
        self._timer = self.loop.call_later(_DRAIN_SECONDS, self._close)

    def _close(self) -> None:
        self.transport.close()
        self._watch()

    async def _full(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The app of a connection over the limit."""
        await finished_answer(self._too_many(), instance=scope["path"])(scope, receive, send)

    def _too_many(self) -> HttpRefused:
        return HttpRefused(
            "unavailable",
            f"This process has {self._limits.connections} connections open and accepts no more",
            "Try again later; if this happens often, raise PENSTOCK_API_CONNECTIONS or run another process",
            field="connections",
            headers={"Retry-After": "5", "Connection": "close"},
        )

    def _arm(self, seconds: float, call: Callable[[], None]) -> None:
        self._timer = self.loop.call_later(seconds, call)

    def _disarm(self) -> None:
        self._phase = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait_for_reader(self) -> None:
        """Close the connection if the client reads our response more slowly than a body may arrive."""
        if self._unread is None:
            waiting = self.transport.get_write_buffer_size()
            self._unread = self.loop.call_later(self._limits.body_seconds, self._reader_overdue, waiting)

    def _reader_overdue(self, waiting: int) -> None:
        self._unread = None
        read = waiting - self.transport.get_write_buffer_size()
        if read < self._limits.body_seconds * self._limits.body_bytes_per_second:
            self.transport.abort()
        else:
            self._wait_for_reader()

    def _stop_waiting_for_reader(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
