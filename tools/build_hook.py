"""Puts the built console into the wheel and the source distribution (a build hook of hatch)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ConsoleHook(BuildHookInterface[Any]):
    """Builds the console before the files are collected; `artifacts` in pyproject.toml adds them."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Not for an editable install: make builds that one."""
        script = Path(self.root) / "tools/build_console.py"
        if version == "editable" or not script.is_file():
            return
        spec = importlib.util.spec_from_file_location("build_console", script)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.main()
