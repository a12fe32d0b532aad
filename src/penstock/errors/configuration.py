"""What can be wrong with how Penstock is configured and started."""

from __future__ import annotations

from pathlib import Path

from penstock.errors.root import PenstockError


class SettingInvalid(PenstockError):
    """A setting has an invalid value."""

    def __init__(self, variable: str, reason: str) -> None:
        super().__init__(f"{variable} is invalid: {reason}", f"Correct {variable} in the environment or .env")
        self.variable = variable
        self.reason = reason
        self.args = (variable, reason)


class EntryPointFailed(PenstockError):
    """An entry point of a package cannot be found or imported; `group` is such as `penstock.channels`."""

    def __init__(self, group: str, name: str, package: str, reason: str) -> None:
        super().__init__(
            f"The entry point {name} in {group} of the package {package} cannot be used: {reason}",
            f"Fix the package and reinstall it, or remove it: pip uninstall {package}",
        )
        self.group = group
        self.name = name
        self.package = package
        self.reason = reason
        self.args = (group, name, package, reason)


class AppNotFound(PenstockError):
    """`--app` does not name an app; `target` is what was given."""

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(
            f"No app at {target!r}: {reason}",
            "Name it as module:variable, for example --app shop.tasks:app",
        )
        self.target = target
        self.reason = reason
        self.args = (target, reason)


class BadCron(PenstockError):
    """A cron line or its time zone is invalid."""

    def __init__(self, expression: str, reason: str) -> None:
        super().__init__(
            f"The cron expression {expression!r} is invalid: {reason}",
            "Write five fields: minute hour day month weekday, for example '*/5 * * * *'",
        )
        self.expression = expression
        self.reason = reason
        self.args = (expression, reason)


class PortTaken(PenstockError):
    """The API cannot listen on its port."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        other = f"--port {port + 1}, " if 0 < port < 65_535 else ""
        super().__init__(
            f"The API cannot listen on {host}:{port}: {reason}",
            f"Add {other}--port 0 to use any free port, or set PENSTOCK_API_PORT",
        )
        self.field = "PENSTOCK_API_PORT"
        self.host = host
        self.port = port
        self.reason = reason
        self.args = (host, port, reason)


class AlreadyRunning(PenstockError):
    """`penstock up` is already running in this data directory."""

    def __init__(self, data_dir: Path, pid: object = None, url: object = None) -> None:
        known = ", ".join(part for part in (f"process {pid}" if pid else "", str(url or "")) if part)
        super().__init__(
            f"penstock up is already running in {data_dir}" + (f" ({known})" if known else ""),
            "Use that one, or stop it"
            + (f" (Ctrl-C there, or kill {pid})" if pid else " (Ctrl-C there)")
            + "; set PENSTOCK_DATA_DIR to run a second one",
        )
        self.data_dir = data_dir
        self.pid = pid
        self.url = url
        self.args = (data_dir, pid, url)
