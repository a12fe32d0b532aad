"""Google Drive: OAuth, files over REST and MCP."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.simulators.providers.endpoints import Endpoint
from penstock.simulators.providers.google import drive_rest
from penstock.simulators.providers.google.base import Google
from penstock.simulators.providers.google.drive_tools import DriveTools
from penstock.simulators.providers.oauth.vendors import GOOGLE_DRIVE
from penstock.simulators.providers.tools import Tool


class GoogleDrive(Google):
    """A person's Drive."""

    vendor = GOOGLE_DRIVE

    def rest(self) -> Sequence[Endpoint]:
        return [*self.identity(), *drive_rest.endpoints(self)]

    def tools(self) -> Sequence[Tool]:
        return DriveTools(self).vendor()

    def sandbox_tools(self) -> Sequence[Tool]:
        return DriveTools(self).sandbox()
