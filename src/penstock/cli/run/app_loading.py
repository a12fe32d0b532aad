"""Loads the user's app, named `module:variable`, from the current folder."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module
from pathlib import Path
from types import ModuleType

from penstock.engine.penstock import Penstock
from penstock.errors import AppNotFound, PenstockError


def load_app(target: str) -> Penstock:
    """Import the app, or call the function that returns it; AppNotFound says what is wrong."""
    name, _, path = target.partition(":")
    if not name:
        raise AppNotFound(target, "no module is named")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, folder)
    module = _import(target, name)
    found: object = module
    for part in (path or "app").split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise AppNotFound(target, f"{name} has no {path or 'app'!r}{_others(module)}") from None
    if callable(found) and not isinstance(found, Penstock | type):
        found = found()
    if not isinstance(found, Penstock):
        kind = type(found).__name__
        raise AppNotFound(target, f"{path or 'app'!r} is a {kind}, not a Penstock{_others(module)}")
    return found


def _import(target: str, name: str) -> ModuleType:
    try:
        return import_module(name)
    except PenstockError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise AppNotFound(target, f"there is no module {error.name!r} in {Path.cwd()}") from error
        raise AppNotFound(target, f"{name} imports {error.name!r}, which is not installed") from error
    except Exception as error:  # any error of the user's module is reported as such
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename}:{place.lineno}"
        raise AppNotFound(
            target, f"importing {name} failed at {where}: {type(error).__name__}: {error}"
        ) from error


def _others(module: ModuleType) -> str:
    names = sorted(name for name, value in vars(module).items() if isinstance(value, Penstock))
    return f"; it has the app {', '.join(names)}" if names else ""
