"""A callable in a warm child process with limits of time, memory, files and output."""

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
