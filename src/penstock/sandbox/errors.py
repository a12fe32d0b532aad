"""How a call in the sandbox can end without an answer."""

from __future__ import annotations

import signal

from penstock.errors import PenstockError


class SandboxError(PenstockError):
    """Root of what the sandbox itself raises; what the function raises comes back as itself."""


class SandboxTimeout(SandboxError):
    """The function ran longer than it may and its process was killed."""

    def __init__(self, function: str, seconds: float) -> None:
        super().__init__(
            f"{function} ran longer than {seconds:g} s and was killed",
            "Give it more seconds or less to do",
        )
        self.function = function
        self.seconds = seconds
        self.args = (function, seconds)


class SandboxCrashed(SandboxError):
    """The process ended in the middle of the call, by a signal or by itself."""

    def __init__(self, function: str, exit_code: int, said: str = "") -> None:
        last_words = f": {said}" if said else ""
        super().__init__(
            f"The process of {function} ended by {_ending(exit_code)}{last_words}",
            "What it was given broke it; the next call has a new process",
        )
        self.function = function
        self.exit_code = exit_code
        self.said = said
        self.args = (function, exit_code, said)

    @property
    def signal(self) -> int | None:
        """The signal that ended it, if one did."""
        return -self.exit_code if self.exit_code < 0 else None


class SandboxOutOfMemory(SandboxError):
    """The function wanted more memory than it may have."""

    def __init__(self, function: str, memory_mb: int) -> None:
        super().__init__(
            f"{function} needs more than {memory_mb} MB of memory",
            "Give the sandbox more memory or the function less to do",
        )
        self.function = function
        self.memory_mb = memory_mb
        self.args = (function, memory_mb)


class SandboxOutputTooLarge(SandboxError):
    """The function's answer is larger than it may be."""

    def __init__(self, function: str, output_mb: int) -> None:
        super().__init__(
            f"The answer of {function} is larger than {output_mb} MB",
            "Allow a larger output or ask for less",
        )
        self.function = function
        self.output_mb = output_mb
        self.args = (function, output_mb)


class SandboxRaised(SandboxError):
    """The function raised something that cannot travel between processes; here it is in words."""

    def __init__(self, function: str, kind: str, words: str) -> None:
        super().__init__(f"{function} raised {kind}: {words}", "Correct what the error names")
        self.function = function
        self.kind = kind
        self.words = words
        self.args = (function, kind, words)


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
