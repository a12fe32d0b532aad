"""How a call in the sandbox can end without a result."""

from __future__ import annotations

import signal

from penstock.errors import PenstockError


class SandboxError(PenstockError):
    """Root of the sandbox's own errors; what the function raises is re-raised as itself."""


class SandboxTimeout(SandboxError):
    """The function exceeded its time limit and its process was killed."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"It took longer than {seconds:g} s and was stopped",
            "Raise PENSTOCK_PARSE_SECONDS, or split the file",
        )
        self.seconds = seconds
        self.args = (seconds,)


class SandboxCrashed(SandboxError):
    """The process died during the call, by a signal or by itself."""

    def __init__(self, exit_code: int, said: str = "") -> None:
        last_words = f": {said}" if said else ""
        super().__init__(
            f"The process that handled it ended with {_ending(exit_code)}{last_words}",
            "The input crashed it; the next call gets a new process",
        )
        self.exit_code = exit_code
        self.said = said
        self.args = (exit_code, said)

    @property
    def signal(self) -> int | None:
        """The signal that ended it, if one did."""
        return -self.exit_code if self.exit_code < 0 else None


class SandboxOutOfMemory(SandboxError):
    """The function exceeded its memory limit."""

    def __init__(self, memory_mb: int) -> None:
        super().__init__(
            f"It needs more than {memory_mb:,} MB of memory",
            "Raise PENSTOCK_PARSE_MEMORY_MB, or split the file",
        )
        self.memory_mb = memory_mb
        self.args = (memory_mb,)


class SandboxOutputTooLarge(SandboxError):
    """The function's result exceeds its size limit."""

    def __init__(self, output_mb: int) -> None:
        super().__init__(
            f"Its result is larger than {output_mb:,} MB",
            "Raise PENSTOCK_PARSE_OUTPUT_MB, or split the file",
        )
        self.output_mb = output_mb
        self.args = (output_mb,)


class SandboxFilesTooLarge(SandboxError):
    """The function wrote too much into its folder."""

    def __init__(self, folder_mb: int, files: int) -> None:
        super().__init__(
            f"It wrote more than {folder_mb:,} MB or {files:,} files into its temporary folder",
            "Split the file, or upload it in another format",
        )
        self.folder_mb = folder_mb
        self.files = files
        self.args = (folder_mb, files)


class SandboxRaised(SandboxError):
    """The function raised an error that cannot be re-raised as itself; this has its text."""

    def __init__(self, kind: str, words: str) -> None:
        super().__init__(f"{kind}: {words}" if words else kind, "Fix what the error names")
        self.kind = kind
        self.words = words
        self.args = (kind, words)


class SandboxClosed(SandboxError):
    """The sandbox is closed or was not started."""

    def __init__(self) -> None:
        super().__init__("The sandbox is closed", "Start it, and close it only after the last call")
        self.args = ()


def _ending(exit_code: int) -> str:
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return f"signal {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"signal {-exit_code}"
