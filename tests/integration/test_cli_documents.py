"""penstock document, search, explain, tenant, project and model: working with ingested documents."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import uuid4

import pytest

from penstock.cli.demo.files import Piece, pdf
from penstock.embed.models_dir import minilm_is_installed
from penstock.settings import Settings
from tests.plugins.command_line import CommandLine

pytestmark = pytest.mark.timeout(240)

READINGS = (("Unit", "Temperature"), ("Cedar one", "61"), ("Cedar two", "58"))
PAGES: list[list[Piece]] = [["# Inspection of Cedar Mill", "The wheel turns."], ["## Readings", READINGS]]


@pytest.fixture
def mill(penstock: CommandLine) -> CommandLine:
    """penstock with a tenant `default`, a PDF and a note, both indexed."""
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    assert ours("tenant", "create", "default", "--json").json["slug"] == "default"
    (ours.folder / "report.pdf").write_bytes(pdf("Inspection of Cedar Mill", PAGES, author="Anna Ash"))
    (ours.folder / "gate.md").write_text("# The gate\n\nThe sluice gate opens at dawn.\n")
    words = ("report.pdf", "gate.md", "--worker", "--metadata", "site=cedar", "--json")
    assert ours("ingest", *words, timeout=180).json["counts"] == {"indexed": 2}
    return ours


def document_ids(mill: CommandLine) -> dict[str, str]:
    rows = mill("document", "list", "--json").json["documents"]
    return {row["filename"]: row["document_id"] for row in rows}


def test_documents_are_listed_shown_and_given_back_byte_for_byte(mill: CommandLine) -> None:
    page = mill("document", "list", "--limit", "1", "--json").json
    rest = mill("document", "list", "--cursor", page["cursor"], "--json").json
    listed = page["documents"] + rest["documents"]
    assert len(page["documents"]) == 1
    # One command takes several files in at a time; their ids say which was first.
    assert listed == sorted(listed, key=lambda row: str(row["document_id"]), reverse=True)
    ids = document_ids(mill)
    assert ids == {row["filename"]: row["document_id"] for row in listed}
    assert len(ids) == 2
    shown = mill("document", "show", ids["report.pdf"], "--json").json
    assert (shown["title"], shown["author"], shown["page_count"]) == (
        "Inspection of Cedar Mill",
        "Anna Ash",
        2,
    )
    assert "Inspection of Cedar Mill" in mill("document", "show", ids["report.pdf"]).out
    got = mill("document", "get", ids["report.pdf"], "-o", "copy.pdf", "--json").json
    content = (mill.folder / "report.pdf").read_bytes()
    assert (mill.folder / "copy.pdf").read_bytes() == content
    assert got["sha256"] == hashlib.sha256(content).hexdigest()
    assert mill("document", "get", ids["gate.md"]).out == (mill.folder / "gate.md").read_text()
    assert "already exists" in mill("document", "get", ids["gate.md"], "-o", "copy.pdf").err


def test_explain_shows_a_documents_timeline(mill: CommandLine) -> None:
    document_id = document_ids(mill)["gate.md"]
    told = mill("explain", document_id, "--json").json
    assert [event["to_status"] for event in told["events"]] == [
        "pending",
        "processing",
        "embedding",
        "indexed",
    ]
    assert (told["status"], told["searchable"], told["waits_for"]) == ("indexed", True, [])
    lines = mill("explain", document_id).out
    assert "embedding → indexed" in lines
    assert "The document is indexed and searchable." in lines
    assert mill("explain", "seven", "--json").error["code"] == "not_found"
    assert mill("explain", str(uuid4()), "--json").error["code"] == "not_found"


def test_search_shows_where_a_passage_stands_and_why_it_was_found(mill: CommandLine) -> None:
    ids = document_ids(mill)
    found = mill("search", "Cedar temperature readings", "--type", "application/pdf", "--json").json
    assert {hit["document_id"] for hit in found["hits"]} == {ids["report.pdf"]}
    best = found["hits"][0]
    assert best["page_to"] == 2
    assert best["vector_rank"]
    assert best["text_rank"]
    shown = mill("search", "when does the sluice gate open?", "--limit", "1", "--metadata", "site=cedar").out
    assert "1. The gate" in shown or "1. gate.md" in shown
    assert "*sluice* *gate*" in shown
    assert f"document {ids['gate.md']}  chunk " in shown
    nothing = mill("search", "gate", "--metadata", "site=birch")
    assert (nothing.code, nothing.out) == (0, "No results.\n")
    wrong = mill("search", "gate", "--created-after", "yesterday", "--json")
    assert (wrong.code, wrong.error["field"]) == (2, "--created-after")
    assert mill("search", "gate", "--project", "none", "--json").error["code"] == "not_found"


def test_a_document_is_retried_reindexed_and_deleted(mill: CommandLine) -> None:
    ids = document_ids(mill)
    refused = mill("document", "retry", ids["gate.md"], "--json")
    assert (refused.code, refused.error["code"]) == (1, "invalid_move")
    done = mill("document", "reindex", ids["gate.md"], str(uuid4()), "--json")
    assert [row["result"] for row in done.json["documents"]] == ["queued", "refused"]
    assert done.code == 1
    assert mill("worker", "--until-empty").code == 0
    events = mill("explain", ids["gate.md"], "--json").json["events"]
    assert [event["to_status"] for event in events].count("indexed") == 2
    asked = mill("document", "delete", ids["gate.md"], "--json")
    assert (asked.code, asked.error["field"]) == (1, "yes")
    deleted = mill("document", "delete", ids["gate.md"], "--yes", "--json").json
    assert deleted["documents"][0]["deleted"] == 1
    assert "gate.md" not in document_ids(mill)
    assert mill("search", "sluice gate", "--mode", "text", "--json").json["hits"] == []


def test_tenants_have_limits_and_keys_that_are_shown_once(mill: CommandLine) -> None:
    assert mill("tenant", "create", "default", "--json").error["code"] == "conflict"
    made = mill("tenant", "create", "acme", "--name", "Acme", "--requests-per-minute", "50", "--json").json
    assert (made["name"], made["requests_per_minute"]) == ("Acme", 50)
    changed = mill(
        "tenant", "set", "acme", "--requests-per-minute", "none", "--max-upload-bytes", "9", "--json"
    ).json
    assert (changed["requests_per_minute"], changed["max_upload_bytes"]) == (None, 9)
    assert [row["slug"] for row in mill("tenant", "list", "--json").json["tenants"]] == ["default", "acme"]
    assert mill("tenant", "set", "acme", "--max-upload-bytes", "many").code == 2
    told = mill("tenant", "webhook", "acme", "https://example.com/done", "--json").json
    assert (told["url"], told["secret"][:6]) == ("https://example.com/done", "whsec_")
    assert mill("tenant", "webhook", "acme", "none", "--json").json == {"url": None, "secret": None}
    words = ("--scope", "search", "--scope", "documents:read", "--expires-in-days", "3", "--json")
    key = mill("tenant", "key", "create", "acme", *words).json
    assert key["secret"].startswith(key["prefix"])
    listed = mill("tenant", "key", "list", "acme", "--json").json["keys"]
    assert [row["scopes"] for row in listed] == [["search", "documents:read"]]
    assert all("secret" not in row for row in listed)
    assert mill("tenant", "key", "revoke", "acme", key["key_id"], "--json").json["revoked"] is True
    assert mill("tenant", "key", "list", "acme", "--json").json["keys"][0]["revoked_at"]
    wrong = mill("tenant", "key", "create", "acme", "--scope", "everything", "--json")
    assert (wrong.error["code"], wrong.error["field"]) == ("invalid_argument", "scopes")


def test_projects_are_made_changed_and_indexed_again(mill: CommandLine) -> None:
    made = mill(
        "project", "create", "letters", "--text-config", "german", "--chunk-tokens", "128", "--json"
    ).json
    assert (made["text_config"], made["chunk_tokens"]) == ("german", 128)
    assert mill("project", "set", "letters", "--chunk-overlap", "16", "--json").json["chunk_overlap"] == 16
    assert mill("project", "set", "letters").code == 2
    assert mill("project", "create", "other", "--embedder", "nothing", "--json").error["field"] == "embedder"
    listed: list[dict[str, Any]] = mill("project", "list", "--json").json["projects"]
    assert {row["slug"]: row["documents"].get("indexed", 0) for row in listed} == {"default": 2, "letters": 0}
    estimate = mill("project", "reindex", "--estimate", "--json").json
    assert estimate["documents"] == 2
    assert estimate["cached_chunks"] == estimate["chunks"] > 0
    queued = mill("project", "reindex", "--json").json
    assert queued["task_id"]
    assert queued["waited"] is False


def test_models_are_listed_with_what_they_lack(mill: CommandLine) -> None:
    models = {row["name"]: row for row in mill("model", "list", "--json").json["models"]}
    assert models["wordllama"]["is_ready"]
    assert "PENSTOCK_COHERE_API_KEY" in models["cohere:embed-v4.0"]["remedy"]
    assert mill("model", "install", "wordllama", "--json").json["installed"] is True
    refused = mill("model", "install", "gpt", "--json")
    assert (refused.code, refused.error["field"]) == (1, "name")
    same = mill("model", "use", "wordllama", "--no-wait", "--json").json
    assert same["project"]["embedder"] == "wordllama"
    assert mill("model", "use", "nothing", "--json").error["field"] == "embedder"


@pytest.mark.skipif(not minilm_is_installed(Settings()), reason="penstock model install minilm was not run")
def test_a_project_switches_to_another_model_and_keeps_answering(mill: CommandLine) -> None:
    with mill.running("worker"):
        moved = mill("model", "use", "minilm", "--json", timeout=180)
    assert moved.code == 0, moved.err
    assert moved.json["waited"] is True
    assert (moved.json["project"]["embedder"], moved.json["project"]["next_embedder"]) == ("minilm", None)
    found = mill("search", "when is the gate opened?", "--mode", "vector", "--limit", "1", "--json").json
    assert found["models"] == ["minilm-l6-v2-int8"]
    assert found["hits"][0]["filename"] == "gate.md"


def test_a_project_is_reindexed_on_a_database_that_no_worker_has_served(penstock: CommandLine) -> None:
    assert penstock("project", "create", "notes").code == 0
    asked = penstock("project", "reindex", "notes", "--json")
    assert asked.code == 0, asked.err
    assert asked.json["task_id"]
