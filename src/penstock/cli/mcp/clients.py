"""How each AI assistant is configured for an MCP server: which file, which format, and what to do next."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "penstock"


@dataclass(frozen=True, slots=True)
class Launch:
    """The program an assistant starts, with absolute paths: its working directory and PATH differ from
    ours."""

    command: str
    args: list[str]
    env: Mapping[str, str]

    @classmethod
    def of_this_program(cls, env: Mapping[str, str]) -> Launch:
        beside = Path(sys.executable).with_name("penstock.exe" if os.name == "nt" else "penstock")
        if beside.exists():
            return cls(str(beside.absolute()), ["mcp"], env)
        return cls(str(Path(sys.executable).absolute()), ["-m", "penstock", "mcp"], env)

    def plain(self) -> dict[str, Any]:
        return {"command": self.command, "args": self.args, "env": dict(self.env)}


@dataclass(frozen=True, slots=True)
class Assistant:
    title: str
    files: Mapping[str, str]
    """The path of the settings file by `sys.platform`; `other` for the rest."""
    render: Callable[[Launch], dict[str, Any]]
    after: str
    by_command: Callable[[Launch], str] | None = None
    """A command of the assistant that writes the settings itself."""

    @property
    def file(self) -> str:
        return self.files.get(sys.platform, self.files["other"])


def _servers(launch: Launch) -> dict[str, Any]:
    return {"mcpServers": {NAME: launch.plain()}}


def _typed_servers(launch: Launch) -> dict[str, Any]:
    return {"mcpServers": {NAME: {"type": "stdio", **launch.plain()}}}


def _vscode(launch: Launch) -> dict[str, Any]:
    return {"servers": {NAME: {"type": "stdio", **launch.plain()}}}


def _claude_add(launch: Launch) -> str:
    variables = [word for name, value in launch.env.items() for word in ("--env", f"{name}={value}")]
    return shlex.join(
        ["claude", "mcp", "add", NAME, "--scope", "user", *variables, "--", launch.command, *launch.args]
    )


def _code_add(launch: Launch) -> str:
    return shlex.join(["code", "--add-mcp", json.dumps({"name": NAME, **launch.plain()})])


CLIENTS = {
    "claude-desktop": Assistant(
        "Claude Desktop",
        {
            "darwin": "~/Library/Application Support/Claude/claude_desktop_config.json",
            "win32": r"%APPDATA%\Claude\claude_desktop_config.json",
            "other": "~/.config/Claude/claude_desktop_config.json",
        },
        _servers,
        "Quit Claude Desktop and start it again.",
    ),
    "claude-code": Assistant(
        "Claude Code",
        {"other": ".mcp.json in your project"},
        _typed_servers,
        "In Claude Code, /mcp lists it.",
        _claude_add,
    ),
    "cursor": Assistant(
        "Cursor",
        {"win32": r"%USERPROFILE%\.cursor\mcp.json", "other": "~/.cursor/mcp.json"},
        _typed_servers,
        "Cursor lists it in its settings under MCP.",
    ),
    "vscode": Assistant(
        "VS Code",
        {"other": ".vscode/mcp.json in your workspace"},
        _vscode,
        "Start it with the link above its name in that file, or with the command MCP: List Servers.",
        _code_add,
    ),
}
