"""How a call in the sandbox can end without an answer."""

from __future__ import annotations

import signal

from penstock.errors import PenstockError


class SandboxError(PenstockError):
    """Root of what the sandbox itself raises; what the function raises comes back as itself."""


class SandboxTimeout(SandboxError):
    """The function ran longer than it may and its process was killed."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"It took longer than {seconds:g} s and was stopped",
            "Set PENSTOCK_PARSE_SECONDS higher, or split the file",
        )
        self.seconds = seconds
        self.args = (seconds,)


class SandboxCrashed(SandboxError):
    """The process ended in the middle of the call, by a signal or by itself."""

    def __init__(self, exit_code: int, said: str = "") -> None:
        last_words = f": {said}" if said else ""
        super().__init__(
            f"The process that worked on it ended with {_ending(exit_code)}{last_words}",
            "Something in the input broke it; the next call has a new process",
        )
        self.exit_code = exit_code
        self.said = said
        self.args = (exit_code, said)

    @property
    def signal(self) -> int | None:
        """The signal that ended it, if one did."""
        return -self.exit_code if self.exit_code < 0 else None


class SandboxOutOfMemory(SandboxError):
    """The function wanted more memory than it may have."""

    def __init__(self, memory_mb: int) -> None:
        super().__init__(
            f"It needs more than {memory_mb:,} MB of memory",
            "Set PENSTOCK_PARSE_MEMORY_MB higher, or split the file",
        )
        self.memory_mb = memory_mb
        self.args = (memory_mb,)


class SandboxOutputTooLarge(SandboxError):
    """The function's answer is larger than it may be."""

    def __init__(self, output_mb: int) -> None:
        super().__init__(
            f"Its result is larger than {output_mb:,} MB",
            "Set PENSTOCK_PARSE_OUTPUT_MB higher, or split the file",
        )
        self.output_mb = output_mb
        self.args = (output_mb,)


class SandboxRaised(SandboxError):
    """The function raised something that is not raised again as itself; here it is in words."""

    def __init__(self, kind: str, words: str) -> None:
        super().__init__(f"{kind}: {words}" if words else kind, "Correct what the error names")
        self.kind = kind
        self.words = words
        self.args = (kind, words)


class SandboxClosed(SandboxError):
    """The sandbox is not started, or closed."""

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
