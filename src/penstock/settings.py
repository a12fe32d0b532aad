"""Settings read from the environment and .env under the prefix PENSTOCK_, checked before anything starts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from penstock.environment import Field, field_validator, model_validator, variables
from penstock.errors import SettingInvalid
from penstock.source_settings import SourceSettings

PREFIX = "PENSTOCK_"

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
Days = Annotated[int, Field(ge=1, le=3_650)]
Url = Annotated[str | None, Field(default=None, repr=False)]  # may hold a password
Secret = Annotated[str | None, Field(default=None, repr=False)]


class Settings(SourceSettings):
    """One frozen value for a process; each field is the variable PENSTOCK_<FIELD>."""

    prefix: ClassVar[str] = PREFIX
    bare_names: ClassVar[frozenset[str]] = frozenset(
        {
            "drive_initial_sync_max_files",
            "gmail_initial_sync_max_threads",
            "integrations_use_fixtures",
            "token_refresh_skew_seconds",
        }
    )

    data_dir: Path = Path(".penstock")

    database_url: Url
    """Runtime login of workers and producers; unset: the embedded server."""
    admin_url: Url
    """Migrations and backups."""
    operator_url: Url
    """Operator commands of the CLI."""
    listen_url: Url
    """Direct address for LISTEN if the others go through a transaction pooler."""
    pool_size: Annotated[int, Field(ge=1, le=1_000)] = 10
    statement_cache: Annotated[int, Field(ge=0, le=10_000)] = 100
    """Prepared statements kept per connection; 0 behind a transaction pooler that does not support them."""
    sql_dir: Path | None = None
    """A folder of your own SQL, migrated after Penstock's."""

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
    """A worker whose event loop is blocked for this long gives up its tasks and exits; 0: never."""
    grace_seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 30.0
    concurrency: Annotated[int, Field(ge=1, le=10_000)] = 100
    prefetch_seconds: Annotated[float, Field(ge=0, le=60, allow_inf_nan=False)] = 0.2

    api_host: str = "127.0.0.1"
    api_port: Annotated[int, Field(ge=0, le=65_535)] = 8000
    api_key: Secret
    """The key of the tenant whose documents `penstock mcp` serves over stdio."""
    api_allowed_hosts: str | None = None
    """Comma-separated host names the API accepts; * for all; unset: this machine's and the API's host."""
    api_prefix: str | None = None
    """The path under which a reverse proxy serves the API and the console, such as /penstock."""
    console_auth: Literal["required", "off"] = "required"
    """off: everybody on this machine is an admin; then the API listens on loopback only."""
    api_connections: Annotated[int, Field(ge=1, le=100_000)] = 1_000
    """Maximum open connections of one API process; beyond that it answers 503."""
    api_head_seconds: Seconds = 10.0
    """How long a client may take to send the headers of a request."""
    api_body_seconds: Seconds = 30.0
    """How long a body may take, plus one second for every api_body_bytes_per_second received."""
    api_body_bytes_per_second: Annotated[int, Field(ge=1, le=1_000_000_000)] = 10_000
    api_idle_seconds: Seconds = 5.0
    """How long an idle connection is kept open for the next request."""
    spool_bytes: Annotated[int | None, Field(ge=1)] = None
    """Total size of uploads in progress in one API process; unset: 8 times max_upload_bytes."""
    spool_bytes_per_tenant: Annotated[int | None, Field(ge=1)] = None
    """Total size of one tenant's uploads in progress; unset: 4 times max_upload_bytes."""
    requests_per_minute: Annotated[int, Field(ge=1, le=1_000_000)] = 6_000
    """Requests per minute of one tenant to one API process; can be overridden per tenant."""
    max_upload_bytes: Annotated[int, Field(ge=1, le=5_000_000_000)] = 268_435_456
    """Maximum size of a document; can be overridden per tenant."""
    max_documents: Annotated[int, Field(ge=0)] = 0
    """Maximum number of documents of a tenant, 0 for no quota; can be overridden per tenant."""
    max_stored_bytes: Annotated[int, Field(ge=0)] = 0
    """Maximum total size of a tenant's documents, 0 for no quota; can be overridden per tenant."""
    max_keys: Annotated[int, Field(ge=0)] = 0
    """Maximum number of API keys of a tenant, 0 for no quota; can be overridden per tenant."""

    blob_url: Annotated[str | None, Field(default=None, repr=False)]
    """file:///…, s3://bucket/prefix, gs://…, az://…; unset: the folder blobs under the data directory."""
    s3_endpoint: str | None = None
    s3_source_endpoint: str | None = None
    """Address of the store that S3 sources are read from, such as a MinIO; unset: AWS's own."""
    sqs_endpoint: str | None = None
    """Address of SQS for inlets, such as a VPC endpoint; unset: the region's."""
    vault_key: Secret
    """Master keys of the vault: 32 bytes in base64, separated by commas; the first one encrypts."""
    vault_key_file: Path | None = None
    """A private file with the master keys; without any of the three settings: vault.key in the data
    directory."""
    vault_kms_key_id: str | None = None
    """The AWS KMS key that protects the master keys, which are then stored in the database."""
    aws_region: str | None = None
    """Region of AWS KMS and the Parameter Store; unset: AWS_REGION or the AWS configuration."""
    kms_endpoint: str | None = None
    """Address of AWS KMS, such as a VPC endpoint; unset: the region's."""
    secret_store: Literal["postgres", "ssm"] = "postgres"  # noqa: S105  # not a secret itself
    """Where new refresh tokens are stored; ssm: AWS's Parameter Store, encrypted there as well."""
    ssm_prefix: str = "/penstock"
    """The path under which parameters are stored: PREFIX/TENANT/SOURCE/PURPOSE/ID."""
    ssm_kms_key_id: str | None = None
    """The KMS key of the parameters; unset: the account's default key for the Parameter Store."""
    ssm_endpoint: str | None = None
    """Address of AWS Systems Manager, such as a VPC endpoint; unset: the region's."""
    orphaned_secret_days: Days = 7
    """How long a secret that nothing points at any more is kept; access tokens and parameters: less."""

    ingest_concurrency: Annotated[int, Field(ge=1, le=1_000)] = 5
    """Documents one worker processes at a time."""
    niceness: Annotated[int, Field(ge=0, le=19)] = 5
    """How far the worker of documents stands back when the processors are busy, so that requests go first."""
    reindex_concurrency: Annotated[int, Field(ge=1, le=1_000)] = 2
    """Shards of re-indexes that one worker runs at once."""
    reindex_shard_documents: Annotated[int, Field(ge=1, le=10_000)] = 200
    """Documents in a shard of a re-index: what is published at once, and begun again after a lost worker."""
    run_seconds: Seconds = 3_600.0
    """How long one run of a document may take, from its file to its last embedding."""
    parse_processes: Annotated[int, Field(ge=1, le=256)] = 2
    parse_seconds: Seconds = 120.0
    parse_memory_mb: Annotated[int, Field(ge=64, le=1_048_576)] = 1_024
    parse_output_mb: Annotated[int, Field(ge=1, le=65_536)] = 256
    ocr_language: str = "eng"
    docling_url: str | None = None
    """Address of a Docling service, used for documents that ask for it."""
    docling_auto: bool = False
    """Send it every document it can read, unless the document asks for the local parser."""
    docling_api_key: Secret

    embedder: str = "wordllama"
    """The model of new projects: wordllama, minilm, brain, openai:MODEL, cohere:MODEL, voyage:MODEL."""
    models_dir: Path | None = None
    """Where models are installed; unset: penstock/models in XDG_CACHE_HOME or ~/.cache."""
    embedding_batch_size: Annotated[int | None, Field(ge=1, le=2_048)] = None
    """Texts per call of a remote embedder; unset: a default per provider."""
    embedding_fallback_url: str | None = None
    """A second address that serves the same model as the remote embedder."""
    embedder_fallback: str | None = None
    """The model used to index documents while their own is unavailable; unset: they wait."""
    embedder_fallback_after_seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = 600.0
    """How long a project's model must be unavailable before the fallback is used."""
    search_embed_seconds: Annotated[float, Field(gt=0, le=60, allow_inf_nan=False)] = 5.0
    """How long a search waits for its query's embedding before it falls back to keyword search."""
    reranker: str | None = None
    """Reads the best passages of every search again: cohere[:MODEL], voyage[:MODEL], tei:URL; unset: none."""
    rerank_passages: Annotated[int, Field(ge=2, le=100)] = 50
    """How many of the best passages of a search are sent to the reranker."""
    rerank_seconds: Annotated[float, Field(gt=0, le=60, allow_inf_nan=False)] = 2.0
    """How long a search waits for the reranker before it answers in its own order."""
    tei_api_key: Secret
    brain_url: str | None = None
    brain_api_secret: Secret
    """Shared secret: sent to the brain, and required of callers of our own POST /internal/embed."""
    openai_api_key: Secret
    openai_base_url: str = "https://api.openai.com/v1"
    cohere_api_key: Secret
    cohere_base_url: str = "https://api.cohere.com"
    voyage_api_key: Secret
    voyage_base_url: str = "https://api.voyageai.com"
    embedding_requests_per_minute: Annotated[int | None, Field(ge=1)] = None
    """Request budget of a remote embedder, shared by all workers; unset: 100 for Cohere, else no limit."""
    embedding_tokens_per_minute: Annotated[int | None, Field(ge=1)] = None
    embedding_price_per_million_tokens: Annotated[float | None, Field(ge=0)] = None
    """Gives the overview and the estimate before a source's first sync a cost, in the price's currency."""

    classifier: Literal["off", "local", "llm"] = "off"
    """What decides whether an uploaded or pushed document is kept."""
    mail_classifier: Literal["auto", "off", "local", "llm"] = "auto"
    """The same for what came by mail, unless its mailbox chooses; auto: llm if there is one, else local."""
    classifier_provider: Literal["openai", "anthropic"] = "openai"
    """The wire format of the language model: that of OpenAI, which many servers implement, or Anthropic's."""
    classifier_url: str | None = None
    """Its address; unset: the provider's own."""
    classifier_api_key: Secret
    classifier_model: str | None = None
    """The language model; unset: there is none, and llm sorts like local."""
    classifier_seconds: Annotated[float, Field(gt=0, le=300, allow_inf_nan=False)] = 20.0
    """How long the language model may take; after that the local classifier decides."""

    index: Literal["pgvector", "qdrant"] = "pgvector"
    qdrant_url: str | None = None
    """Address of a Qdrant server, or a folder for its client's local mode."""
    qdrant_api_key: Secret
    qdrant_timeout_seconds: Annotated[float, Field(ge=1, le=600, allow_inf_nan=False)] = 30.0
    """How long one request to Qdrant may take."""
    exact_search_chunks: Annotated[int, Field(ge=0)] = 50_000
    """A tenant with more chunks than this gets an HNSW index of its own."""

    allow_private_addresses: bool = False
    """Allow outgoing requests (webhooks, the SMS gateway, providers) to loopback and private networks."""

    smtp_host: str | None = None
    """The mail server; unset: attempts to send email fail with an error that says so."""
    smtp_port: Annotated[int, Field(ge=1, le=65_535)] = 587
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    smtp_username: str | None = None
    smtp_password: Secret
    smtp_from: str | None = None
    """The default sender."""
    smtp_ca_file: Path | None = None
    """Certificates to trust in addition to the system's, for your own mail server."""
    smtp_connections: Annotated[int, Field(ge=1, le=100)] = 4
    """Messages one worker sends at a time, each on a persistent connection."""
    sms_base_url: str = "https://api.twilio.com"
    """An SMS gateway that implements Twilio's Messages API."""
    sms_account_sid: str | None = None
    sms_auth_token: Secret
    sms_from: str | None = None
    """The default number or messaging service (MG…) to send from."""
    file_delete_signed: bool = False
    """Delete blobs by a signed URL instead of directly; needs a bucket, not a folder."""
    backup_retention_days: Annotated[int, Field(ge=0, le=3_650)] = 30
    """How long you keep backups; a deletion receipt states until when they still contain the deleted data."""

    completed_retention_days: Days = 7
    dead_retention_days: Days = 90
    payload_limit_bytes: Annotated[int, Field(ge=1_024, le=16_777_216)] = 1_048_576

    @property
    def api_url(self) -> str:
        """The API's address as browsers reach it."""
        return self.public_url or f"http://localhost:{self.api_port}"

    @property
    def classifier_of_mailboxes(self) -> Literal["off", "local", "llm"]:
        """What classifies a mail's documents if its mailbox does not choose."""
        if self.mail_classifier != "auto":
            return self.mail_classifier
        return "local" if self.classifier_model is None else "llm"

    @property
    def quotas(self) -> dict[str, int]:
        """The quotas of a tenant without its own; 0 for none."""
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

    @field_validator("api_prefix")
    @classmethod
    def _is_prefix(cls, prefix: str | None) -> str | None:
        bare = (prefix or "").rstrip("/")
        if bare and not re.fullmatch(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,99}){1,10}", bare):
            raise ValueError("it must be a path like /penstock, or empty")
        return bare or None

    @field_validator("ssm_prefix")
    @classmethod
    def _is_path(cls, prefix: str) -> str:
        if not re.fullmatch(r"(/[A-Za-z0-9_.-]+){1,10}", prefix) or prefix.lower().startswith(
            ("/aws", "/ssm")
        ):
            raise ValueError("it must be a path like /penstock/production, and not start with /aws or /ssm")
        return prefix

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
                f"{self.beat_seconds:g} s leaves no time for a missed beat; it must be less than half of "
                f"{_variable('lease_seconds')} ({self.lease_seconds:g} s)",
            )
        if 0 < self.stall_seconds < 1:
            raise SettingInvalid(
                _variable("stall_seconds"),
                f"{self.stall_seconds:g} s is too short; use 1 or more, or 0 for never",
            )
        for name in ("classifier", "mail_classifier"):
            if getattr(self, name) == "llm" and self.classifier_model is None:
                raise SettingInvalid(
                    _variable(name), f"llm needs a language model; set {_variable('classifier_model')}"
                )
        if self.database_url is None:
            for name in ("admin_url", "operator_url", "listen_url"):
                if getattr(self, name) is not None:
                    raise SettingInvalid(
                        _variable(name), f"it is set, but {_variable('database_url')} is not; set both"
                    )
        return self


def _variable(field: str) -> str:
    return PREFIX + field.upper()


OTHER_NAMES = frozenset({"bench_collections", "chaos_long", "source_password", "test_database_url"})
"""Variables with the prefix that are not settings but are read elsewhere."""

_reported: set[str] = set()


def unknown_variables() -> dict[str, str | None]:
    """Variables in the environment and .env with the prefix that are not settings, with the closest name.

    Each is reported once per process.
    """
    unknown = sorted(
        variables(PREFIX, ".env").keys() - Settings.model_fields.keys() - OTHER_NAMES - _reported,
    )
    if not unknown:
        return {}
    from difflib import get_close_matches

    _reported.update(unknown)
    nearest = {name: get_close_matches(name, Settings.model_fields, 1, 0.6) for name in unknown}
    return {_variable(name): _variable(found[0]) if found else None for name, found in nearest.items()}
