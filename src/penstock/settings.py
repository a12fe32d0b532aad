"""Settings read from the environment and .env under the prefix PENSTOCK_, checked before anything starts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from penstock.environment import Field, FromEnvironment, field_validator, model_validator, variables
from penstock.errors import SettingInvalid

PREFIX = "PENSTOCK_"

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
Days = Annotated[int, Field(ge=1, le=3_650)]
Url = Annotated[str | None, Field(default=None, repr=False)]  # may hold a password
Secret = Annotated[str | None, Field(default=None, repr=False)]


class Settings(FromEnvironment):
    """One frozen value for a process; each field is the variable PENSTOCK_<FIELD>."""

    prefix: ClassVar[str] = PREFIX

    data_dir: Path = Path(".penstock")

    database_url: Url
    """Runtime login of workers and producers; unset: the embedded server."""
    admin_url: Url
    """Migrations and backups."""
    operator_url: Url
    """Operator commands of the CLI."""
    listen_url: Url
    """Direct address for LISTEN where the others lead through a transaction pooler."""
    pool_size: Annotated[int, Field(ge=1, le=1_000)] = 10
    statement_cache: Annotated[int, Field(ge=0, le=10_000)] = 100
    """Prepared statements kept a connection; 0 behind a transaction pooler that cannot carry them."""

    log_format: Literal["auto", "console", "json"] = "auto"
    log_level: Literal["debug", "info", "warning", "error", "critical"] = "info"
    metrics_port: Annotated[int | None, Field(ge=0, le=65_535)] = None
    metrics_host: str = "127.0.0.1"

    notify: bool = True
    poll_interval: Seconds = 30.0
    poll_jitter: Annotated[float, Field(ge=0, le=1)] = 0.1

    lease_seconds: Annotated[float, Field(ge=0.5, le=86_400, allow_inf_nan=False)] = 15.0
    beat_seconds: Seconds = 5.0
    stall_seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 60.0
    """A worker whose event loop does not answer for this long gives its tasks up and exits; 0: never."""
    grace_seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 30.0
    concurrency: Annotated[int, Field(ge=1, le=10_000)] = 100
    prefetch_seconds: Annotated[float, Field(ge=0, le=60, allow_inf_nan=False)] = 0.2

    api_host: str = "127.0.0.1"
    api_port: Annotated[int, Field(ge=0, le=65_535)] = 8000
    api_key: Secret
    """The key of the tenant whose documents `penstock mcp` serves over stdio."""
    api_allowed_hosts: str | None = None
    """Host names the API answers to, with commas; * for all; unset: this machine's own and the API's host."""
    api_connections: Annotated[int, Field(ge=1, le=100_000)] = 1_000
    """Connections one API process has open; one more is answered with 503."""
    api_head_seconds: Seconds = 10.0
    """How long the head of a request may take."""
    api_body_seconds: Seconds = 30.0
    """How long a body may take, and a second more for every api_body_bytes_per_second that came."""
    api_body_bytes_per_second: Annotated[int, Field(ge=1, le=1_000_000_000)] = 10_000
    api_idle_seconds: Seconds = 5.0
    """How long a connection is kept for the next request."""
    spool_bytes: Annotated[int | None, Field(ge=1)] = None
    """Bodies of unfinished uploads one API process holds; unset: 16 times max_upload_bytes."""
    spool_bytes_per_tenant: Annotated[int | None, Field(ge=1)] = None
    """The same of one tenant; unset: 8 times max_upload_bytes."""
    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] = 6_000
    """What one tenant may ask of one API process; a tenant may have its own figure."""
    max_upload_bytes: Annotated[int, Field(ge=1, le=5_000_000_000)] = 104_857_600
    """The largest document; a tenant may have its own figure."""
    max_documents: Annotated[int, Field(ge=0)] = 0
    """Documents a tenant may have, 0 for no quota; a tenant may have its own figure."""
    max_stored_bytes: Annotated[int, Field(ge=0)] = 0
    """Bytes the documents of a tenant may have together, 0 for no quota; a tenant may have its own figure."""
    max_keys: Annotated[int, Field(ge=0)] = 0
    """API keys a tenant may have, 0 for no quota; a tenant may have its own figure."""

    blob_url: Annotated[str | None, Field(default=None, repr=False)]
    """file:///…, s3://bucket/prefix, gs://…, az://…; unset: the folder blobs under the data directory."""
    s3_endpoint: str | None = None
    vault_key: Secret
    """32 bytes in base64 that wrap the vault's keys; unset: made once in the data directory."""

    ingest_concurrency: Annotated[int, Field(ge=1, le=1_000)] = 5
    """Documents one worker works on at a time."""
    parse_processes: Annotated[int, Field(ge=1, le=256)] = 2
    parse_seconds: Seconds = 120.0
    parse_memory_mb: Annotated[int, Field(ge=64, le=1_048_576)] = 1_024
    parse_output_mb: Annotated[int, Field(ge=1, le=65_536)] = 256
    ocr_language: str = "eng"
    docling_url: str | None = None
    """A Docling service; it is sent the documents that ask for it."""
    docling_auto: bool = False
    """Send it every document it can read as well, unless the document asks for the local parser."""
    docling_api_key: Secret

    embedder: str = "wordllama"
    """The model of new projects: wordllama, minilm, brain, openai:MODEL, cohere:MODEL, voyage:MODEL."""
    models_dir: Path | None = None
    """Where installed models live; unset: penstock/models in XDG_CACHE_HOME or ~/.cache."""
    embedding_batch_size: Annotated[int | None, Field(ge=1, le=2_048)] = None
    """Texts in one call of a remote embedder; unset: what suits each of them."""
    embedding_fallback_url: str | None = None
    """A second address that serves the same model as a remote embedder."""
    embedder_fallback: str | None = None
    """The model documents are indexed with while their own is unavailable; unset: they wait."""
    embedder_fallback_after_seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 600.0
    """How long the own model is unavailable before the fallback is used."""
    search_embed_seconds: Annotated[float, Field(gt=0, le=60, allow_inf_nan=False)] = 5.0
    """How long a search waits for the embedding of its query before it answers by words."""
    brain_url: str | None = None
    brain_api_secret: Secret
    """Shared secret: sent to the brain, and asked of callers of our own POST /internal/embed."""
    openai_api_key: Secret
    openai_base_url: str = "https://api.openai.com/v1"
    cohere_api_key: Secret
    cohere_base_url: str = "https://api.cohere.com"
    voyage_api_key: Secret
    voyage_base_url: str = "https://api.voyageai.com"
    embedding_requests_per_minute: Annotated[int | None, Field(ge=1)] = None
    """Budget of a remote embedder over all workers; unset: 100 for Cohere, none for the others."""
    embedding_tokens_per_minute: Annotated[int | None, Field(ge=1)] = None

    index: Literal["pgvector", "qdrant"] = "pgvector"
    qdrant_url: str | None = None
    """Address of a Qdrant server, or a folder for its client's local mode."""
    qdrant_api_key: Secret
    exact_search_chunks: Annotated[int, Field(ge=0)] = 50_000
    """A tenant with more chunks than this gets an HNSW index of its own."""

    allow_private_addresses: bool = False
    """Let outgoing requests, of webhooks and the SMS gateway, reach loopback and private networks."""

    smtp_host: str | None = None
    """The server that sends email; unset: attempts to send fail and say so."""
    smtp_port: Annotated[int, Field(ge=1, le=65_535)] = 587
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    smtp_username: str | None = None
    smtp_password: Secret
    smtp_from: str | None = None
    """The sender of messages that name none."""
    smtp_ca_file: Path | None = None
    """Certificates to trust beside the system's, for a mail server of your own."""
    smtp_connections: Annotated[int, Field(ge=1, le=100)] = 4
    """Messages one worker sends at a time, each on a connection that is kept."""
    sms_base_url: str = "https://api.twilio.com"
    """A gateway that speaks Twilio's Messages API."""
    sms_account_sid: str | None = None
    sms_auth_token: Secret
    sms_from: str | None = None
    """The number or messaging service (MG…) that sends messages that name none."""
    file_delete_signed: bool = False
    """Delete blobs by a signed URL instead of directly; needs a bucket, not a folder."""
    backup_retention_days: Annotated[int, Field(ge=0, le=3_650)] = 30
    """How long your backups are kept; a deletion receipt says until when they still hold what was deleted."""

    completed_retention_days: Days = 7
    dead_retention_days: Days = 90
    payload_limit_bytes: Annotated[int, Field(ge=1_024, le=16_777_216)] = 1_048_576

    @property
    def quotas(self) -> dict[str, int]:
        """The quotas of a tenant that has no figures of its own; 0 for none."""
        return {name: getattr(self, name) for name in ("max_documents", "max_stored_bytes", "max_keys")}

    @field_validator("log_level", mode="before")
    @classmethod
    def _lower(cls, level: object) -> object:
        return level.lower() if isinstance(level, str) else level

    @field_validator("api_allowed_hosts")
    @classmethod
    def _are_hosts(cls, listed: str | None) -> str | None:
        for name in (listed or "").split(","):
            bare = name.strip().removeprefix("*.")
            if bare not in ("", "*") and not all(part.isalnum() for part in re.split("[._-]", bare) if part):
                raise ValueError(f"{name.strip()!r} must be a host name without scheme and port, *.name or *")
        return listed

    @field_validator("database_url", "admin_url", "operator_url", "listen_url")
    @classmethod
    def _is_postgres(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("postgresql://", "postgres://")):
            raise ValueError("it must start with postgresql://")
        return url

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.beat_seconds >= self.lease_seconds / 2:
            raise SettingInvalid(
                _variable("beat_seconds"),
                f"{self.beat_seconds:g} s leaves no room for a lost beat; it must be less than half of "
                f"{_variable('lease_seconds')} ({self.lease_seconds:g} s)",
            )
        if 0 < self.stall_seconds < 1:
            raise SettingInvalid(
                _variable("stall_seconds"),
                f"{self.stall_seconds:g} s is too short; use 1 or more, or 0 for never",
            )
        if self.database_url is None:
            for name in ("admin_url", "operator_url", "listen_url"):
                if getattr(self, name) is not None:
                    raise SettingInvalid(
                        _variable(name), f"it is set while {_variable('database_url')} is not; set both"
                    )
        return self


def _variable(field: str) -> str:
    return PREFIX + field.upper()


OTHER_NAMES = frozenset({"chaos_long"})
"""Variables that are not settings of the product but are read somewhere."""

_told: set[str] = set()


def unknown_variables() -> dict[str, str | None]:
    """Variables of the environment and .env that start like a setting and are none, with the nearest name.

    Each is told once per process.
    """
    unknown = sorted(
        variables(PREFIX, ".env").keys() - Settings.model_fields.keys() - OTHER_NAMES - _told,
    )
    if not unknown:
        return {}
    from difflib import get_close_matches

    _told.update(unknown)
    nearest = {name: get_close_matches(name, Settings.model_fields, 1, 0.6) for name in unknown}
    return {_variable(name): _variable(found[0]) if found else None for name, found in nearest.items()}
