"""What the commands say about failed documents and about questions without an answer."""

from __future__ import annotations

import pytest

from tests.plugins.command_line import CommandLine

pytestmark = pytest.mark.timeout(240)


def test_failed_documents_are_listed_explained_counted_by_doctor_and_retried_by_reason(
    penstock: CommandLine,
) -> None:
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    assert ours("tenant", "create", "default", "--json").json["slug"] == "default"
    (ours.folder / "gate.md").write_text("# The gate\n\nThe sluice gate opens at dawn.\n")
    (ours.folder / "empty.txt").write_text("   \n")
    taken = ours("ingest", "gate.md", "empty.txt", "--worker", "--json", timeout=180)
    assert taken.json["counts"] == {"indexed": 1, "failed": 1}

    (failed,) = ours("document", "list", "--status", "failed", "--json").json["documents"]
    assert failed["reason_code"] == "empty"
    assert "empty" in ours("document", "list").out
    told = ours("explain", failed["document_id"]).out
    assert "failed: It failed at" in told
    assert told.count(": empty: ") == 1, "once in the reason"
    assert "empty: empty" not in told
    assert f"penstock document retry {failed['document_id']}" in told
    checks = {check["check"]: check for check in ours("doctor", "--json").json["checks"]}
    assert checks["documents"]["status"] == "warn"
    assert checks["documents"]["message"] == "1 document failed: 1 empty"

    nobody = ours("document", "retry", "--status", "failed")
    assert nobody.code != 0
    assert "1 document of tenant default" in nobody.err
    assert nobody.err.endswith("failed. Add --yes.\n"), nobody.err
    none = ours("document", "retry", "--status", "failed", "--reason", "bomb", "--yes", "--json")
    assert none.json == {"matched": 0, "queued": 0}
    done = ours("document", "retry", "--status", "failed", "--reason", "empty", "--yes", "--json")
    assert done.json == {"matched": 1, "queued": 1}
    assert ours("document", "retry").code != 0

    assert ours("search", "symptoms of appendicitis").out.startswith("No good match. The closest results:")
    assert ours("search", "symptoms of appendicitis", "--min-score", "0.5").out == "No good match.\n"
    assert ours("search", "when does the sluice gate open", "--min-score", "0.5").out.startswith("1. ")
