"""The part of a connected provider that does not depend on the vendor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from penstock.errors import InvalidArgument
from penstock.source_settings import provider_settings

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.sources.bindings.calls import Calls
    from penstock.sources.mapping.field_map import FieldMap
    from penstock.sources.oauth.app import OAuthApp
    from penstock.sources.protocol import OpenSource


class ConnectedProvider:
    """A provider that is read over MCP and REST through bindings."""

    kind: ClassVar[str]
    title: ClassVar[str]
    package: ClassVar[str]

    def check_config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """`bindings`, and what the vendor's provider adds by overriding this."""
        return {**self._known(config, "bindings"), **self._bindings_in(config)}

    def bindings(self, source: OpenSource) -> Sequence[str]:
        """The names of the bindings a source uses, the first that has a method first."""
        chosen = self._bindings_in(source.config).get("bindings")
        names: Sequence[str] = chosen or getattr(source.settings, f"{self.kind}_bindings").split()
        return names

    @property
    def maps(self) -> Mapping[str, FieldMap]:
        from penstock.sources.mapping.map_file import load_maps

        return load_maps(Path(str(files(self.package) / "maps")))

    def oauth(self, settings: Settings) -> OAuthApp | None:
        """None with recorded responses, which need no grant."""
        from penstock.sources.oauth.built_in import oauth_app

        return None if settings.integrations_use_fixtures else oauth_app(settings, self.kind)

    def calls(self, source: OpenSource, **constants: Any) -> AbstractAsyncContextManager[Calls]:
        """Connections for one sync; with recorded responses, none."""
        if source.settings.integrations_use_fixtures:
            from penstock.sources.reading.fixtures import RecordedCalls

            return nullcontext(RecordedCalls(self.title, self.package))
        from penstock.sources.bindings.calls import open_calls
        from penstock.sources.bindings.loading import load_binding

        known = provider_settings(source.settings, self.kind)
        return open_calls(
            self.title,
            [load_binding(self.package, name) for name in self.bindings(source)],
            mcp_url=known.mcp_url,
            api_url=known.api_url,
            token=source.access_token,
            constants=constants,
            most_bytes=self.most_bytes(source),
            allow_private=source.settings.allow_private_addresses,
        )

    def most_bytes(self, source: OpenSource) -> int:
        """How long an answer with a file may be."""
        return source.settings.max_upload_bytes

    def _bindings_in(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        from penstock.sources.bindings.loading import load_binding

        given = config.get("bindings")
        if given is None:
            return {}
        if not isinstance(given, list) or not given or not all(isinstance(each, str) for each in given):
            raise InvalidArgument(
                "bindings must be a list of names",
                "bindings",
                'Such as ["hubspot-rest@v3"]; remove it for the default',
            )
        for name in given:
            load_binding(self.package, name)
        return {"bindings": given}

    def _known(self, config: Mapping[str, Any], *names: str) -> dict[str, Any]:
        if unknown := sorted(config.keys() - set(names)):
            raise InvalidArgument(
                f"{self.title} has no setting {unknown[0]!r}", unknown[0], f"There are {', '.join(names)}"
            )
        return {}
