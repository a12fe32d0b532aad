"""Sources of documents, one folder per provider; these names are what a provider of your own needs."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.model import SourceId, TenantId
    from penstock.sources.errors import (
        AccessForbidden,
        CursorExpired,
        ProviderUnavailable,
        SourceError,
        Throttled,
        TokenRejected,
    )
    from penstock.sources.mapping.field_map import FieldMap
    from penstock.sources.mapping.map_file import MapFileInvalid, load_maps
    from penstock.sources.oauth.app import OAuthApp
    from penstock.sources.protocol import (
        Checkpoint,
        Cursor,
        Failed,
        FileContent,
        Gone,
        Item,
        OpenSource,
        Provider,
        Reader,
        SyncEvent,
    )

__all__ = [
    "AccessForbidden",
    "Checkpoint",
    "Cursor",
    "CursorExpired",
    "Failed",
    "FieldMap",
    "FileContent",
    "Gone",
    "Item",
    "MapFileInvalid",
    "OAuthApp",
    "OpenSource",
    "Provider",
    "ProviderUnavailable",
    "Reader",
    "SourceError",
    "SourceId",
    "SyncEvent",
    "TenantId",
    "Throttled",
    "TokenRejected",
    "load_maps",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "errors": [
            "AccessForbidden",
            "CursorExpired",
            "ProviderUnavailable",
            "SourceError",
            "Throttled",
            "TokenRejected",
        ],
        "mapping.field_map": ["FieldMap"],
        "mapping.map_file": ["MapFileInvalid", "load_maps"],
        "oauth.app": ["OAuthApp"],
        "protocol": [
            "Checkpoint",
            "Cursor",
            "Failed",
            "FileContent",
            "Gone",
            "Item",
            "OpenSource",
            "Provider",
            "Reader",
            "SourceId",
            "SyncEvent",
            "TenantId",
        ],
    },
)
