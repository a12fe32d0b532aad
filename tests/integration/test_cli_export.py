"""penstock export: documents, chunks and events as JSON lines, whole and continued."""

from __future__ import annotations

import json
from collections import Counter

from tests.plugins.command_line import CommandLine


def test_an_export_holds_everything_and_is_continued_where_it_ended(penstock: CommandLine) -> None:
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    ours("tenant", "create", "default", "--json")
    (ours.folder / "notes").mkdir()
    for n in range(3):
        (ours.folder / "notes" / f"note{n}.md").write_text(
            f"# Note {n}\n\nThe gate number {n} opens at dawn.\n"
        )
    ours("ingest", "notes", "--worker", "--json", timeout=180)
    whole = ours("export")
    assert "Exported 3 documents" in whole.err
    lines = [json.loads(line) for line in whole.out.splitlines()]
    kinds = Counter(line["type"] for line in lines)
    assert (kinds["document"], kinds["chunk"] >= 3, kinds["event"] >= 9) == (3, True, True)
    documents = [line["document_id"] for line in lines if line["type"] == "document"]
    assert documents == sorted(documents)
    assert {line["document_id"] for line in lines} == set(documents)
    last = [line["type"] for line in lines][-1]
    assert last == "document", "it comes after its chunks and events"

    part = ours("export", "--after", documents[0], "-o", "rest.jsonl", "--no-events", "--json").json
    assert (part["documents"], part["events"], part["last_document_id"]) == (2, 0, documents[-1])
    rest = [json.loads(line) for line in (ours.folder / "rest.jsonl").read_text().splitlines()]
    assert [line["document_id"] for line in rest if line["type"] == "document"] == documents[1:]
    assert ours("export", "-o", "rest.jsonl").code != 0, "it is not overwritten"
    assert (
        ours("export", "--status", "failed", "--force", "-o", "rest.jsonl", "--json").json["documents"] == 0
    )
    assert ours("export", "--since", "2100-01-01").out == ""
    refused = ours("export", "--since", "yesterday")
    assert refused.code != 0
    assert "ISO 8601" in refused.err
