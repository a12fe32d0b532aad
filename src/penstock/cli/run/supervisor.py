"""Runs several penstock processes under one: forwards signals, restarts those that crash or hang."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic

from penstock.cli.exit_codes import Exit
from penstock.cli.run.answering import Answers, PipeAnswers, watch
from penstock.observe import get_logger
from penstock.sandbox.signals import send

log = get_logger(__name__)

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
STEADY_SECONDS = 60.0
"""A child that ran this long has started well; after its next crash the delay starts over."""
LAST_WORDS_SECONDS = 2.0
"""How long an unresponsive child gets to write where it is stuck."""

FINAL = (Exit.REFUSED, Exit.USAGE)
"""Exit codes that a restart would not fix."""


@dataclass(frozen=True, slots=True)
class Child:
    """A penstock command to keep running; `heard` receives each line of its stdout.

    `answers` checks whether its event loop runs; without it the child reports through a pipe.
    """

    name: str
    words: Sequence[str]
    heard: Callable[[str], None]
    variables: Mapping[str, str] = field(default_factory=dict)
    answers: Answers | None = None


@dataclass(slots=True)
class Supervised:
    """The result over all children."""

    restarts: int = 0
    exit_code: int = 0


@dataclass(slots=True)
class Supervisor:
    """`until_done`: a child that exits with 0 is done. `in_order`: stop one after the other.

    A child that is unresponsive for `silent_seconds` (0: never checked) is killed and restarted.
    """

    silent_seconds: float
    grace_seconds: float = 0.0
    """How much longer a child that was told to stop may be unresponsive."""
    until_done: bool = False
    in_order: bool = False
    restarted: Callable[[Child, int], None] | None = None
    done: Supervised = field(default_factory=Supervised)
    _running: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _ending: asyncio.Task[None] | None = None

    async def run(self, children: Sequence[Child]) -> Supervised:
        """Keep the children running until told to stop or, with `until_done`, until all are done."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        await asyncio.gather(*(self._keep(child) for child in children))
        return self.done

    def stop(self) -> None:
        """Tell the children to stop; the second call makes them all stop at once."""
        if self.in_order and not self._stopping.is_set():
            self._ending = asyncio.get_running_loop().create_task(self._end_in_order())
        else:
            for process in self._running.values():
                send(process, signal.SIGTERM)
        self._stopping.set()

    async def _end_in_order(self) -> None:
        for process in list(self._running.values()):
            send(process, signal.SIGTERM)
            await process.wait()

    async def _keep(self, child: Child) -> None:
        delay = FIRST_DELAY
        while not self._stopping.is_set():
            started = monotonic()
            code = await self._run_once(child)
            if self._stopping.is_set() or (self.until_done and code == 0):
                # Told to stop before its handlers were installed, it dies of the signal and holds nothing.
                self.done.exit_code = max(self.done.exit_code, 0 if code == -signal.SIGTERM else abs(code))
                return
            if code in FINAL:
                self.done.exit_code = code
                self.stop()
                return
            delay = FIRST_DELAY if monotonic() - started > STEADY_SECONDS else delay
            log.warning("child_process_ended", process=child.name, exit_code=code, restart_in=delay)
            try:
                await asyncio.wait_for(self._stopping.wait(), delay)
            except TimeoutError:
                self.done.restarts += 1
                if self.restarted is not None:
                    self.restarted(child, code)
            delay = min(delay * 2, LONGEST_DELAY)

    async def _run_once(self, child: Child) -> int:
        """Run a child once; it cannot outlive us, because its stdin is a pipe from us."""
        pipe = PipeAnswers() if child.answers is None else None
        words = ["--ends-with-parent"] if pipe is None else ["--ends-with-parent", f"--alive-fd={pipe.fd}"]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "penstock", *words, *child.words),
            env={**os.environ, **child.variables},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # or Ctrl-C would reach it twice: from the terminal and from us
            pass_fds=() if pipe is None else (pipe.fd,),
        )
        self._running[child.name] = process
        log.info("child_process_started", process=child.name, pid=process.pid)
        if self._stopping.is_set():
            send(process, signal.SIGTERM)
        answers = child.answers or pipe
        assert answers is not None
        watching = asyncio.create_task(self._replace_silent(child, process, answers))
        try:
            assert process.stdout is not None
            async for line in process.stdout:
                child.heard(line.decode(errors="replace"))
            code = await process.wait()
        finally:
            watching.cancel()
            if pipe is not None:
                pipe.close()
        del self._running[child.name]
        return code

    async def _replace_silent(
        self, child: Child, process: asyncio.subprocess.Process, answers: Answers
    ) -> None:
        """Kill an unresponsive child after it had time to write its stacks; `_keep` restarts it."""
        if not self.silent_seconds:
            return
        answers.forget()
        silent = await watch(answers, self.silent_seconds)
        if self._stopping.is_set():  # an API that finishes its last requests accepts no new ones
            await asyncio.sleep(self.grace_seconds)
        log.error("child_process_silent", process=child.name, pid=process.pid, seconds=round(silent, 1))
        send(process, signal.SIGABRT)
        try:
            await asyncio.wait_for(process.wait(), LAST_WORDS_SECONDS)
        except TimeoutError:
            send(process, signal.SIGKILL)
