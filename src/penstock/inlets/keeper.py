"""Holds inlets and runs a mover for each: one process per inlet, or more where they are asked to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from penstock.db.reconnecting import ReconnectingConnection
from penstock.inlets.calls import InletCalls
from penstock.inlets.mover import Mover
from penstock.inlets.protocol import InletRow
from penstock.inlets.register import FACTORIES, Surroundings, open_inlet
from penstock.observe import Metrics, get_logger

log = get_logger(__name__)


class Keeper:
    """`look` is called every few seconds, and `stop` once; in between every inlet it holds is moved."""

    def __init__(
        self,
        surroundings: Surroundings,
        holder: str,
        *,
        seconds: float,
        only: str | None = None,
        beside: bool = False,
        metrics: Metrics | None = None,
    ) -> None:
        """`seconds`: after this silence another process takes over. `only`: the one inlet to hold.

        `beside`: read it also while another process holds it.
        """
        self._surroundings = surroundings
        self._holder = holder
        self._seconds = seconds
        self._only = only
        self._beside = beside
        self._metrics = metrics
        self._movers: dict[str, Mover] = {}
        self._lines: dict[str, ReconnectingConnection] = {}
        self._rows: dict[str, InletRow] = {}
        self._failed: dict[str, str] = {}
        self.moved = 0
        """Messages that movers which have ended made tasks of."""

    @property
    def movers(self) -> Mapping[str, Mover]:
        """The movers that run here, by inlet."""
        return self._movers

    async def look(self, line: ReconnectingConnection) -> None:
        """Renew what is held, start what is new, stop what was paused, removed, changed or taken over."""
        status = {name: mover.status() for name, mover in self._movers.items()}
        status |= {name: {"error": error} for name, error in self._failed.items()}
        held = {
            row.name: row
            for row in await InletCalls(line).hold(
                self._holder, list(FACTORIES), self._seconds, self._only, status, beside=self._beside
            )
        }
        for name in list(self._movers):
            if self._movers[name].ended or held.get(name) != self._rows[name]:
                await self._end(name, grace=5.0)
        self._failed = {name: error for name, error in self._failed.items() if name in held}
        for name, row in held.items():
            if name not in self._movers:
                await self._begin(row)

    async def stop(self, line: ReconnectingConnection, grace: float) -> None:
        """Finish or give back what is in hand, then let another process take over at once."""
        await asyncio.gather(*(self._end(name, grace) for name in list(self._movers)))
        try:
            await asyncio.wait_for(InletCalls(line).free(self._holder, self._only), 5.0)
        except Exception as error:  # noqa: BLE001  # we are stopping: another takes over after a while
            log.warning("inlets_not_freed", error=error)

    async def _begin(self, row: InletRow) -> None:
        try:
            inlet = await open_inlet(row, self._surroundings)
        except Exception as error:  # noqa: BLE001  # shown with the inlet, and tried again at the next look
            self._failed[row.name] = f"{type(error).__name__}: {error}"
            log.throttled("inlet_failed", key=row.name, inlet=row.name, error=error)
            return
        self._failed.pop(row.name, None)
        line = ReconnectingConnection(
            self._surroundings.runtime_url,
            application_name=f"penstock inlet {row.name}"[:63],
            statement_cache=self._surroundings.settings.statement_cache,
        )
        mover = Mover(inlet, InletCalls(line), metrics=self._metrics)
        self._rows[row.name], self._lines[row.name], self._movers[row.name] = row, line, mover
        await mover.start()
        log.info("inlet_started", inlet=row.name, kind=row.kind)

    async def _end(self, name: str, grace: float) -> None:
        """Forgotten only when it has ended: a shutdown may cancel a look in the middle of this."""
        mover = self._movers[name]
        await mover.stop(grace)
        self.moved += mover.moved
        await self._lines[name].close()
        del self._movers[name], self._lines[name], self._rows[name]
        if self._metrics is not None:
            self._metrics.forget_inlet_lag(name)
        log.info("inlet_ended", inlet=name, moved=mover.moved)
