"""Several worker processes under one: pass signals on, restart what crashes, end with one exit code."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic

from penstock.cli.exit_codes import Exit
from penstock.observe import get_logger

log = get_logger(__name__)

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
STEADY_SECONDS = 60.0
"""A child that lived so long has come up; its next crash waits the first delay again."""

FINAL = (Exit.REFUSED, Exit.USAGE)
"""What a restart would not mend."""


@dataclass(slots=True)
class Supervised:
    """How it went over all children."""

    closed: int = 0
    restarts: int = 0
    exit_code: int = 0


def supervise(
    processes: int, words: Sequence[str], *, metrics_port: int | None, until_empty: bool
) -> Supervised:
    """Run the same command in `processes` children until told to stop or, `until_empty`, all are done."""
    return asyncio.run(_Supervisor(words, metrics_port, until_empty).run(processes))


@dataclass(slots=True)
class _Supervisor:
    words: Sequence[str]
    metrics_port: int | None
    until_empty: bool
    done: Supervised = field(default_factory=Supervised)
    children: dict[int, asyncio.subprocess.Process] = field(default_factory=dict)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, processes: int) -> Supervised:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        await asyncio.gather(*(self._keep(number) for number in range(processes)))
        return self.done

    async def _keep(self, number: int) -> None:
        delay = FIRST_DELAY
        while not self.stopping.is_set():
            started = monotonic()
            code = await self._run_once(number)
            if self.stopping.is_set() or (self.until_empty and code == 0):
                # Told to stop before it had installed its handlers, it dies of the signal and holds nothing.
                self.done.exit_code = max(self.done.exit_code, 0 if code == -signal.SIGTERM else abs(code))
                return
            if code in FINAL:
                self.done.exit_code = code
                self._stop()
                return
            delay = FIRST_DELAY if monotonic() - started > STEADY_SECONDS else delay
            log.warning("worker_process_ended", process=number, exit_code=code, restart_in=delay)
            try:
                await asyncio.wait_for(self.stopping.wait(), delay)
            except TimeoutError:
                self.done.restarts += 1
            delay = min(delay * 2, LONGEST_DELAY)

    async def _run_once(self, number: int) -> int:
        """One life of a child; it does not outlive us, because its stdin is ours."""
        child = await asyncio.create_subprocess_exec(
            *self._command(number),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # or Ctrl-C would reach it twice: from the terminal and from us
        )
        self.children[number] = child
        log.info("worker_process_started", process=number, pid=child.pid)
        if self.stopping.is_set():
            child.terminate()
        assert child.stdout is not None
        answer = await child.stdout.read()
        code = await child.wait()
        del self.children[number]
        if answer.strip():
            self.done.closed += json.loads(answer)["closed"]
        return code

    def _command(self, number: int) -> list[str]:
        command = [
            sys.executable,
            "-m",
            "penstock",
            *self.words,
            "--processes",
            "1",
            "--ends-with-parent",
            "--json",
        ]
        if self.metrics_port:
            command += ["--metrics-port", str(self.metrics_port + number)]
        return command

    def _stop(self) -> None:
        """Pass the signal on; a second one makes the children hurry."""
        self.stopping.set()
        for child in self.children.values():
            if child.returncode is None:
                child.terminate()
