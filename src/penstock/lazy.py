"""Loads the names of a package when they are first used: a command pays only for what it uses."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def lazy(
    package: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package whose submodules (the keys of `homes`) define these names.

    A name loads its submodule at the first use. Type checkers read the imports under TYPE_CHECKING instead.
    """
    submodules = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> object:
        if name not in submodules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{submodules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *submodules})

    return load, names
