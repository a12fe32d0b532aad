"""Every command has --json: one document on stdout, with the keys docs/reference/cli.md promises."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from penstock.cli.program import COMMANDS
from tests.plugins.command_line import CommandLine

pytestmark = pytest.mark.timeout(180)

QUEUE = "queue paused ready waiting running max_running rate workers"
STATS = (
    "queue paused ready running waiting parked dead oldest_ready_seconds max_running rate workers"
    " idle_workers"
)
SHOWN = (
    "task_id task_type state queue priority tenant_id enqueued_at scheduled_at payload has_unique_key"
    " has_limit_key due_at lease attempts errors"
)
DOCUMENT = (
    "document_id project_id project status reason_code error_message title filename path mime_type"
    " size_bytes content_sha256 external_id source_id parent_document_id author language document_created_at"
    " document_modified_at page_count parser warnings metadata pipeline_config searchable fallback_embedder"
    " chunk_count token_count created_at updated_at indexed_at"
)
TENANT = (
    "tenant_id slug name status max_upload_bytes requests_per_minute monthly_token_budget webhook_url"
    " contact_email max_documents max_stored_bytes max_keys created_at holdings"
)
SOURCE = (
    "source_id kind name project status status_message account health sync_every_seconds next_sync_at"
    " synced_at created_at updated_at documents last_job"
)
BACKUP = (
    "target format penstock_version schema_version created_at database_bytes database_sha256 blobs blob_store"
    " blob_count blob_bytes blob_list_sha256 gone missing vault_key vault_key_ids parameters index"
)
KEY = "key_id name prefix scopes created_at expires_at revoked_at used_at"
PROJECT = (
    "project_id slug name embedder next_embedder text_config chunk_strategy chunk_tokens chunk_overlap"
    " created_at documents left_behind gate"
)
HIT = (
    "kind score vector_score vector_rank text_score text_rank rerank_score coverage relevance model"
    " document_id client_id project_id source_id chunk_id ordinal ordinal_from ordinal_to char_start"
    " char_end title filename path mime_type author language document_created_at document_modified_at"
    " heading_path headings page_from page_to text snippet"
)
ESTIMATE = "documents chunks tokens cached_chunks cached_tokens model"
EXPLAINED = (
    "document_id path filename title status reason_code error_message searchable task_id open_ingestions"
    " waits_for events"
)
INGESTED = "path document_id parent_document_id status created failed_before reason_code error_message"
MODEL = "name model dimensions max_tokens is_remote is_ready remedy"
MESSAGE = "message_id process_id state attempts error_message"
REQUESTED = "account_id account_deletion_task_id receipt_token deletion"
DELETION = (
    "account_id account_deletion_task_id status error requested_at files_left parameters_left flags receipt"
    " receipt_sha256"
)
LETTER = "task_id task_type queue reason attempts losses error_code error_message fingerprint died_at"
LISTED_PROCESS = (
    "id process root_id tenant_id tenant state attempts failed_attempts created_at ended_at next_check_at"
    " swept error_message"
)
PROCESS = (
    "id process root_id channel tenant_id tenant about state created_at opened_at next_check_at late_seconds"
    " supervisor_task_id supervisor_task_state swept max_attempts attempts timeline"
)
PROCESS_ATTEMPT = (
    "number attempt_id task_id task_state started_at outcome ended_at error_message retriable before_restart"
)
MOMENT = "at event attempt task_id task_state message"


def keys(text: str) -> set[str]:
    return set(text.split())


def drained(penstock: CommandLine) -> tuple[int, int]:
    """A task that was done and one that died; their ids."""
    assert (
        penstock("worker", "--app", "shop", "--until-empty").code == 0
    )  # declares the types and the schedule
    enqueue = "select queues.enqueue('shop.{}', '{{}}')"
    ids = [int(penstock("db", "psql", "--", "-Atc", enqueue.format(name)).out) for name in ("sell", "break")]
    assert penstock("worker", "--app", "shop", "--until-empty").code == 0
    return ids[0], ids[1]


def test_commands_that_read_print_their_documented_keys(penstock: CommandLine) -> None:
    done, dead = drained(penstock)
    listed = penstock("queue", "list", "--json").json["queues"]
    assert {frozenset(row) for row in listed} == {frozenset(QUEUE.split())}
    assert {frozenset(row) for row in penstock("queue", "stats", "--json").json["queues"]} == {
        frozenset(keys(STATS))
    }
    assert set(penstock("task", "show", str(done), "--json").json) == keys(SHOWN)
    rows = penstock("task", "list", "--state", "completed", "--json").json["tasks"]
    assert [row["task_id"] for row in rows] == [done]
    assert set(rows[0]) == keys("task_id task_type queue state attempt enqueued_at at worker_id")
    assert datetime.fromisoformat(rows[0]["at"]).tzinfo is not None
    assert set(penstock("dead", "list", "--json").json["dead"][0]) == keys(LETTER)
    causes = penstock("dead", "list", "--by-fingerprint", "--json").json["causes"]
    assert set(causes[0]) == keys(
        "fingerprint task_type error_code error_message letters first_died_at last_died_at last_task_id"
    )
    assert keys("task_id payload errors reason queue") <= set(
        penstock("dead", "show", str(dead), "--json").json
    )
    schedules = penstock("schedule", "list", "--json").json["schedules"]
    assert set(schedules[0]) == keys(
        "schedule_name cron timezone task_type queue enabled next_at last_at last_task_id"
    )
    explained = penstock("explain", str(dead), "--json").json
    assert explained["task_id"] == dead
    assert set(explained["reasons"][0]) == keys("reason explanation remedy")
    doctor = penstock("doctor", "--json").json
    assert set(doctor) == keys("healthy checks")
    assert all(set(check) == keys("check status message remedy") for check in doctor["checks"])


def test_commands_that_change_something_print_their_documented_keys(
    penstock: CommandLine, tmp_path: Path
) -> None:
    _, dead = drained(penstock)
    assert penstock("queue", "pause", "shop", "--json").json == {"queue": "shop", "paused": True}
    assert penstock("queue", "resume", "shop", "--json").json == {"queue": "shop", "paused": False}
    limits = penstock("queue", "limits", "shop", "--max-running", "3", "--rate", "100/min", "--json").json
    assert limits == {
        "queue": "shop",
        "limits": [
            {
                "queue": "shop",
                "scope": "queue",
                "max_running": 3,
                "rate_count": 100,
                "rate_period_seconds": 60.0,
                "rate_burst": None,
            }
        ],
    }
    ran = penstock("schedule", "run", "nightly", "--json").json
    assert set(ran) == keys("schedule task_id")
    assert penstock("schedule", "pause", "nightly", "--json").json == {
        "schedule": "nightly",
        "enabled": False,
    }
    assert not penstock("schedule", "list", "--json").json["schedules"][0]["enabled"]
    assert penstock("schedule", "resume", "nightly", "--json").json == {
        "schedule": "nightly",
        "enabled": True,
    }
    cancelled = penstock("task", "cancel", str(ran["task_id"]), "--json").json
    assert cancelled == {"tasks": [{"task_id": ran["task_id"], "result": "cancelled", "error": None}]}
    retried = penstock("task", "retry", str(dead), "--json").json
    assert retried == {"tasks": [{"task_id": dead, "result": "replayed", "error": None}]}
    assert set(penstock("worker", "--app", "shop", "--until-empty", "--json").json) == keys(
        "processes closed restarts"
    )
    assert penstock("dead", "replay", "--all", "--yes", "--json").json == {"replayed": 1}
    penstock("worker", "--app", "shop", "--until-empty")
    assert penstock("dead", "purge", str(dead), "--yes", "--json").json == {"purged": 1}
    backup = penstock("db", "backup", str(tmp_path / "all.dump"), "--json").json
    assert set(backup) == keys("file bytes left_out")
    whole = penstock("backup", str(tmp_path / "whole"), "--json").json
    assert set(whole) == keys(BACKUP)
    assert set(penstock("db", "url", "--json").json) == keys("role url")
    assert set(penstock("migrate", "--json").json) == keys(
        "version changed migrations objects dropped folders vectors"
    )
    assert set(penstock("migrate", "--check", "--json").json) == keys(
        "database_version code_version pending folders"
    )
    assert set(penstock("db", "status", "--json").json) == keys("ledgers current")
    assert set(penstock("bench", "--tasks", "200", "--json").json) == keys(
        "tasks closed enqueue_seconds enqueue_per_second drain_seconds drain_per_second"
    )
    assert set(penstock("version", "--json").json) == keys("version python")


def test_documents_and_accounts_print_their_documented_keys(penstock: CommandLine, tmp_path: Path) -> None:
    mill = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    assert set(mill("tenant", "create", "default", "--json").json) == keys(TENANT) | {"api_key"}
    assert set(mill("tenant", "list", "--json").json["tenants"][0]) == keys(TENANT)
    made = mill("tenant", "key", "create", "--json").json
    assert set(made) == keys(KEY) | {"secret"}
    assert set(mill("tenant", "key", "list", "--json").json["keys"][0]) == keys(KEY)
    assert set(mill("tenant", "key", "revoke", "default", made["key_id"], "--json").json) == keys(
        "key_id revoked"
    )
    assert set(mill("login", "--json").json) == keys("url name role tenant expires_at is_running")
    (tmp_path / "gate.md").write_text("# Gate\n\nIt opens at dawn.\n")
    ingested = mill("ingest", "gate.md", "--worker", "--json", timeout=120).json
    assert set(ingested) == keys("files attachments counts seconds documents pruned")
    assert set(ingested["documents"][0]) == keys(INGESTED)
    document_id = ingested["documents"][0]["document_id"]
    page = mill("document", "list", "--json").json
    assert set(page) == keys("documents cursor")
    assert set(page["documents"][0]) == keys(DOCUMENT)
    assert set(mill("document", "show", document_id, "--json").json) == keys(DOCUMENT)
    found = mill("search", "gate", "--json").json
    assert set(found) == keys("hits took_ms steps models model read_as no_good_match degraded unavailable")
    assert set(found["hits"][0]) == keys(HIT)
    assert set(found["hits"][0]["snippet"]) == keys("text marks html")
    got = mill("document", "get", document_id, "-o", "copy", "--json").json
    assert set(got) == keys("document_id file bytes mime_type sha256")
    assert set(mill("explain", document_id, "--json").json) == keys(EXPLAINED)
    again = mill("document", "reindex", document_id, "--json").json["documents"]
    assert set(again[0]) == keys("document_id result error task_id")
    gone = mill("document", "delete", document_id, "--yes", "--json").json["documents"]
    assert set(gone[0]) == keys("document_id result error deleted")
    (removal,) = mill("process", "list", "--json").json["processes"]
    assert set(removal) == keys(LISTED_PROCESS)
    process = mill("process", "show", removal["id"], "--json").json
    assert set(process) == keys(PROCESS)
    assert all(set(moment) == keys(MOMENT) for moment in process["timeline"])
    message = mill("message", "sms", "--to", "+4930123456", "--text", "x", "--json").json
    assert set(message) == keys(MESSAGE)
    assert set(mill("project", "list", "--json").json["projects"][0]) == keys(PROJECT)
    assert set(mill("project", "reindex", "--estimate", "--json").json) == keys(ESTIMATE)
    assert set(mill("project", "reindex", "--json").json) == keys("task_id waited project")
    project = "project_id slug documents left task_id"
    assert mill("project", "create", "away", "--json").code == 0
    assert set(mill("project", "delete", "away", "--yes", "--json").json) == keys(project)
    source = mill("source", "create", "--json").json
    assert set(source) == keys("source_id secret path")
    assert set(mill("source", "list", "--json").json["sources"][0]) == keys(SOURCE)
    assert set(mill("source", "pause", source["source_id"], "--json").json) == keys("source_id status")
    removed = mill("source", "remove", source["source_id"], "--yes", "--json").json
    assert set(removed) == keys("source_id removed")
    requested = mill("tenant", "delete", "default", "--yes", "--json").json
    assert set(requested) == keys(REQUESTED)
    assert set(mill("tenant", "receipt", requested["account_id"], "--json").json) == keys(DELETION)
    assert set(mill("model", "list", "--json").json["models"][0]) == keys(MODEL)
    assert set(mill("model", "install", "wordllama", "--json").json) == keys("name installed folder")


@pytest.mark.parametrize(
    ("words", "code", "kind", "field"),
    [
        (["queue", "stats", "nope"], 1, "unknown_queue", "queue"),
        (["queue", "pause", "nope"], 1, "unknown_queue", "queue"),
        (["task", "show", "99"], 1, "task_not_found", "task_id"),
        (["task", "list", "--state", "lazy"], 1, "invalid_argument", "state"),
        (["schedule", "run", "never"], 1, "schedule_not_found", "schedule"),
        (["schedule", "pause", "never"], 1, "schedule_not_found", "schedule"),
        (["worker", "--app", "nowhere:app"], 1, "app_not_found", "app"),
        (["dead", "replay", "--all", "--yes"], 1, "task_not_found", "filter"),
        (["queue", "limits", "default", "--rate", "often"], 2, "usage", "--rate"),
        (["task", "show", "first"], 2, "usage", "task_id"),
        (["document", "list"], 1, "not_found", "tenant"),
        (["document", "show", "first"], 1, "not_found", "tenant"),
        (["explain", "first"], 1, "not_found", "tenant"),
        (["search", " "], 2, "usage", "QUERY"),
        (["tenant", "create", "No Such"], 1, "invalid_argument", "slug"),
        (["message", "sms", "--to", "+4930123456", "--text", "x"], 1, "not_found", "tenant"),
        (["process", "show", "comms.send_email/9"], 1, "not_found", "id"),
        (["process", "list", "--process", "nothing"], 1, "not_found", "process"),
        (["process", "retry", "first"], 2, "usage", "ID"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_error_is_a_document_on_stderr(
    penstock: CommandLine, words: list[str], code: int, kind: str, field: str
) -> None:
    ended = penstock(*words, "--json")
    assert (ended.code, ended.out) == (code, "")
    assert set(ended.error) == keys("code message field remedy")
    assert (ended.error["code"], ended.error["field"]) == (kind, field)
    assert ended.error["message"]
    assert ended.error["remedy"]


def test_the_reference_names_every_command_and_key() -> None:
    text = Path(__file__).parents[2].joinpath("docs/reference/cli.md").read_text()
    lists = (
        *(
            STATS,
            SHOWN,
            LETTER,
            DOCUMENT,
            TENANT,
            KEY,
            SOURCE,
            PROJECT,
            HIT,
            ESTIMATE,
            EXPLAINED,
            INGESTED,
            MODEL,
        ),
        *(LISTED_PROCESS, PROCESS, PROCESS_ATTEMPT, MOMENT, MESSAGE, REQUESTED, DELETION),
    )
    for word in (*COMMANDS, *(key for each in lists for key in keys(each))):
        assert word in text, word
