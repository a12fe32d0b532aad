"""A callable in a warm child process with limits of time, memory, files and output."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.sandbox.errors import (
        SandboxClosed,
        SandboxCrashed,
        SandboxError,
        SandboxOutOfMemory,
        SandboxOutputTooLarge,
        SandboxRaised,
        SandboxTimeout,
    )
    from penstock.sandbox.pool import Sandbox

__all__ = [
    "Sandbox",
    "SandboxClosed",
    "SandboxCrashed",
    "SandboxError",
    "SandboxOutOfMemory",
    "SandboxOutputTooLarge",
    "SandboxRaised",
    "SandboxTimeout",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "errors": [
            "SandboxClosed",
            "SandboxCrashed",
            "SandboxError",
            "SandboxOutOfMemory",
            "SandboxOutputTooLarge",
            "SandboxRaised",
            "SandboxTimeout",
        ],
        "pool": ["Sandbox"],
    },
)
