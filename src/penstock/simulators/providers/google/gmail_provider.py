"""Gmail: OAuth, mail over REST and MCP, watches with their pushes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.simulators.providers.endpoints import Endpoint
from penstock.simulators.providers.google import gmail_rest
from penstock.simulators.providers.google.base import Google
from penstock.simulators.providers.google.gmail_messages import MessageFields
from penstock.simulators.providers.google.gmail_tools import GmailTools
from penstock.simulators.providers.google.gmail_watch import TOPIC, PubSub, Watches
from penstock.simulators.providers.oauth.vendors import GMAIL
from penstock.simulators.providers.tools import Tool

if TYPE_CHECKING:
    from penstock.simulators.providers.push.emitter import Emitter
    from penstock.simulators.providers.world.world import World


class Gmail(Google):
    """A person's mailbox."""

    vendor = GMAIL
    emitter: Emitter

    def __init__(self, world: World) -> None:
        self.message_fields: MessageFields = "current"
        """`earlier`: sender, toRecipients and ccRecipients, as the MCP server's first release had them."""
        self.found_threads: dict[str, list[str]] = {}
        self.found_messages: dict[str, list[str]] = {}
        self.pubsub = PubSub(world.clock)
        self.watches = Watches(world, self.pubsub)
        super().__init__(world)
        self.emitter = self.pubsub.emitter

    def rest(self) -> Sequence[Endpoint]:
        return [*self.identity(), *gmail_rest.endpoints(self)]

    def more_settings(self, root: str) -> dict[str, str]:
        return {
            "push_topic": TOPIC,
            "push_audience": self.pubsub.audience,
            "push_service_account": self.pubsub.service_account,
            "certs_url": root + gmail_rest.CERTS,
        }

    def tools(self) -> Sequence[Tool]:
        return GmailTools(self).vendor()

    def sandbox_tools(self) -> Sequence[Tool]:
        return GmailTools(self).sandbox()
