"""Runs a function in a process that can reach nothing but its input, with limited time, memory and output."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.sandbox.errors import (
        SandboxClosed,
        SandboxCrashed,
        SandboxError,
        SandboxFilesTooLarge,
        SandboxOutOfMemory,
        SandboxOutputTooLarge,
        SandboxRaised,
        SandboxTimeout,
    )
    from penstock.sandbox.files import GivenFile, InputFile, OutputFile
    from penstock.sandbox.layers import Layers
    from penstock.sandbox.one_call import OutputTooLarge
    from penstock.sandbox.pool import Sandbox

__all__ = [
    "GivenFile",
    "InputFile",
    "Layers",
    "OutputFile",
    "OutputTooLarge",
    "Sandbox",
    "SandboxClosed",
    "SandboxCrashed",
    "SandboxError",
    "SandboxFilesTooLarge",
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
            "SandboxFilesTooLarge",
            "SandboxOutOfMemory",
            "SandboxOutputTooLarge",
            "SandboxRaised",
            "SandboxTimeout",
        ],
        "files": ["GivenFile", "InputFile", "OutputFile"],
        "layers": ["Layers"],
        "one_call": ["OutputTooLarge"],
        "pool": ["Sandbox"],
    },
)
