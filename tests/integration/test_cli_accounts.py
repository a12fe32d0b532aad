"""penstock tenant, project and source: quotas, deleting a project, and managing the webhook."""

from __future__ import annotations

import pytest

from tests.plugins.command_line import CommandLine

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def mill(penstock: CommandLine) -> CommandLine:
    """penstock with a tenant `default`."""
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    assert ours("tenant", "create", "default", "--max-keys", "5", "--json").json["max_keys"] == 5
    return ours


def test_quotas_are_set_shown_and_named_when_they_are_used_up(mill: CommandLine) -> None:
    assert mill("tenant", "set", "default", "--max-documents", "1", "--json").json["max_documents"] == 1
    assert mill("tenant", "set", "default", "--max-documents", "many").code == 2
    assert mill("tenant", "set", "default", "--max-stored-bytes", "0", "--json").json["max_stored_bytes"] == 0
    (mill.folder / "one.md").write_text("# One\n\nThe sluice gate opens at dawn.\n")
    (mill.folder / "two.md").write_text("# Two\n\nThe sluice gate closes at dusk.\n")
    assert mill("ingest", "one.md", "--no-wait", "--json").code == 0
    shown = mill("tenant", "show", "default", "--json").json
    assert shown["holdings"]["documents"] == {"used": 1, "limit": 1}
    assert shown["holdings"]["stored_bytes"]["limit"] is None
    assert shown["holdings"]["keys"] == {"used": 0, "limit": 5}
    (row,) = mill("tenant", "list", "--json").json["tenants"]
    assert row["holdings"] == shown["holdings"]
    assert "1 of 1" in mill("tenant", "list").out
    assert "1 of 1" in mill("tenant", "show", "default").out
    refused = mill("ingest", "two.md", "--no-wait")
    assert refused.code != 0
    assert "max_documents" in refused.out + refused.err
    strict = mill.with_variables(PENSTOCK_MAX_KEYS="1", PENSTOCK_DATA_DIR="data")
    assert mill("tenant", "set", "default", "--max-keys", "none", "--json").json["max_keys"] is None
    assert strict("tenant", "key", "create", "--json").code == 0
    over = strict("tenant", "key", "create", "--json").error
    assert (over["code"], over["field"]) == ("quota_exceeded", "max_keys")


def test_a_project_is_deleted_after_its_documents_are_counted(mill: CommandLine) -> None:
    assert mill("project", "create", "sales", "--json").code == 0
    (mill.folder / "one.md").write_text("# One\n\nThe sluice gate opens at dawn.\n")
    assert mill("ingest", "one.md", "--project", "sales", "--no-wait", "--json").code == 0
    refused = mill("project", "delete", "sales")
    assert refused.code == 2
    assert "1 document " in refused.err
    assert mill("project", "delete", "default", "--yes", "--json").error["code"] == "invalid_move"
    gone = mill("project", "delete", "sales", "--yes", "--json").json
    assert (gone["documents"], gone["left"]) == (1, 0)
    assert [row["slug"] for row in mill("project", "list", "--json").json["projects"]] == ["default"]
    assert mill("document", "list", "--json").json["documents"] == []
    missing = mill("project", "create", "mail", "--embedder", "cohere:embed-v4.0", "--json").error
    assert (missing["field"], missing["remedy"]) == ("embedder", "Set PENSTOCK_COHERE_API_KEY")
    unset = mill.with_variables(PENSTOCK_EMBEDDER="voyage", PENSTOCK_DATA_DIR="data")
    assert unset("tenant", "create", "other", "--json").error["field"] == "embedder"


def test_the_webhook_is_made_paused_and_removed(mill: CommandLine) -> None:
    assert mill("source", "list", "--json").json == {"sources": []}
    made = mill("source", "create", "--json").json
    assert (made["secret"][:6], made["path"]) == ("whsec_", "/webhook/default")
    assert mill("source", "create", "--json").error["code"] == "conflict"
    assert mill("source", "rotate", "--json").json["secret"] != made["secret"]
    source = made["source_id"]
    for verb, status in (("pause", "paused"), ("resume", "active")):
        assert mill("source", verb, source, "--json").json["status"] == status
        assert mill("source", "list", "--json").json["sources"][0]["status"] == status
    assert mill("source", "remove", source).code == 2
    assert mill("source", "remove", source, "--yes", "--json").json["removed"] is True
    assert mill("source", "pause", source, "--json").error["code"] == "not_found"
    assert mill("source", "list", "--json").json == {"sources": []}
