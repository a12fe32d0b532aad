"""penstock ingest of a folder that changes: a file and its document are identified by the path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.cli.demo.files import pdf
from penstock.cli.ingest.prune import _is_gone
from penstock.documents.file_identity import LONGEST_EXTERNAL_ID, identity_of, prefix_of
from tests.plugins.command_line import CommandLine, Ended

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def mill(penstock: CommandLine) -> CommandLine:
    """penstock with a tenant `default` and a data folder of its own."""
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    assert ours("tenant", "create", "default").code == 0
    return ours


def found(mill: CommandLine, query: str) -> list[str]:
    """The texts a search by words finds."""
    return sorted(
        hit["text"] for hit in mill("search", query, "--mode", "text", "--limit", "50", "--json").json["hits"]
    )


def ingest(mill: CommandLine, *words: str) -> Ended:
    return mill("ingest", *words, "--worker", "--json", timeout=180)


def test_an_edited_file_replaces_its_old_version_however_it_is_named(mill: CommandLine) -> None:
    folder = mill.folder / "notes"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "gate.md").write_text("The gate opens at dawn.")
    (folder / "copy.md").write_text("The gate opens at dawn.")
    first = ingest(mill, "notes")
    assert first.json["counts"] == {"indexed": 2}, "equal content of two files is two documents"
    ids = {Path(row["path"]).name: row["document_id"] for row in first.json["documents"]}
    assert ids["gate.md"] != ids["copy.md"]

    (folder / "a" / "gate.md").write_text("The gate opens at noon.")
    edited = ingest(mill, "notes/a/gate.md")
    (row,) = edited.json["documents"]
    assert (row["document_id"], row["status"], row["created"]) == (ids["gate.md"], "indexed", False)
    assert found(mill, "gate") == ["The gate opens at dawn.", "The gate opens at noon."]
    (folder / "link").symlink_to(folder / "a")
    for spelling in (str(folder), "./notes", "notes/../notes", "notes/link", "notes/link/gate.md"):
        again = ingest(mill, spelling)
        assert set(again.json["counts"]) == {"unchanged"}, spelling
    assert len(mill("document", "list", "--json").json["documents"]) == 2

    elsewhere = ingest(mill, "notes", "--root-name", "handbook")
    assert elsewhere.json["counts"] == {"indexed": 2}
    listed = mill("document", "list", "--json").json["documents"]
    assert {each["external_id"] for each in listed} == {
        f"file:{folder / 'a' / 'gate.md'}", f"file:{folder / 'copy.md'}",
        "file:handbook/a/gate.md", "file:handbook/copy.md",
    }  # fmt: skip


def test_prune_deletes_what_is_gone_from_the_folder_and_names_the_count_first(mill: CommandLine) -> None:
    for name in ("in/one.txt", "in/two.txt", "in/deep/three.txt", "out/four.txt", "in.txt"):
        (mill.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (mill.folder / name).write_text(f"The wheel called {name}.")
    assert ingest(mill, "in", "out", "in.txt").json["counts"] == {"indexed": 5}
    assert ingest(mill, "in/one.txt", "--external-id", "crm-1").json["counts"] == {"indexed": 1}
    (mill.folder / "in" / "two.txt").rename(mill.folder / "in" / "renamed.txt")
    for gone in ("in/deep/three.txt", "out/four.txt", "in.txt"):
        (mill.folder / gone).unlink()

    refused = ingest(mill, "in", "--prune")
    assert (refused.code, refused.error["field"]) == (1, "yes")
    assert "2 documents whose files are gone" in refused.error["message"]
    assert len(found(mill, "wheel")) == 6
    would = mill("ingest", "in", "--prune", "--dry-run", "--json").json
    assert (would["count"], [Path(each).name for each in would["paths"]]) == (2, ["three.txt", "two.txt"])
    assert mill("ingest", "in", "--dry-run").code == 2
    assert ingest(mill, "in").json["pruned"] == []
    pruned = ingest(mill, "in", "--glob", "*.none", "--prune", "--yes")
    assert pruned.code == 0, pruned.err
    assert sorted(Path(each["path"]).name for each in pruned.json["pruned"]) == ["three.txt", "two.txt"]
    kept = [f"The wheel called {name}." for name in ("in/one.txt", "in/two.txt", "in.txt", "out/four.txt")]
    assert found(mill, "wheel") == sorted([*kept, kept[0]]), "renamed, named by an id, in other folders"
    assert ingest(mill, "in", "--prune", "--yes").json["pruned"] == []

    for name in ("one.txt", "renamed.txt"):
        (mill.folder / "in" / name).unlink()
    for folder in ("in", "missing/in"):
        if folder == "missing/in":
            (mill.folder / "missing").mkdir()
        unmounted = ingest(mill, folder, "--prune", "--yes")
        if folder == "in":
            assert (unmounted.code, unmounted.error["field"]) == (1, "prune")
            assert "2 documents" in unmounted.error["message"]
            assert "--prune-empty" in unmounted.error["remedy"]
    assert len(found(mill, "wheel")) == 5
    (mill.folder / "in" / "deep").rmdir()
    (mill.folder / "in").rmdir()
    said = mill("ingest", "in", "--prune", "--prune-empty", "--yes", "--worker", timeout=180)
    assert said.code == 0, said.err
    assert ["pruned", "2"] in [line.split() for line in said.out.splitlines()]
    assert len(found(mill, "wheel")) == 3


def test_a_file_that_failed_for_good_is_tried_again_only_when_asked(mill: CommandLine) -> None:
    (mill.folder / "bad.pdf").write_bytes(b"%PDF-1.7\nthis is no PDF")
    first = ingest(mill, "bad.pdf")
    (row,) = first.json["documents"]
    assert (first.code, row["status"], row["failed_before"]) == (1, "failed", False)
    said = mill("ingest", "bad.pdf", "--worker", timeout=180)
    assert said.code == 1
    assert f"failed  bad.pdf  {row['document_id']}  {row['reason_code']}: " in said.err
    assert "(failed before, not retried)" in said.err
    assert "--retry-failed" in said.err
    again = ingest(mill, "bad.pdf")
    assert again.json["documents"][0]["failed_before"] is True
    assert again.json["documents"][0]["reason_code"] == row["reason_code"]

    def runs() -> int:
        events = mill("explain", "bad.pdf", "--json").json["events"]
        return sum(event["event"] == "started" for event in events)

    assert runs() == 1
    assert ingest(mill, "bad.pdf", "--retry-failed").json["documents"][0]["failed_before"] is False
    assert runs() == 2
    (mill.folder / "bad.pdf").write_bytes(pdf("Pump", [["The pump is fixed."]]))
    assert ingest(mill, "bad.pdf").json["counts"] == {"indexed": 1}


def test_documents_are_found_by_path_and_name_and_two_with_one_name_are_distinguished(
    mill: CommandLine,
) -> None:
    for folder in ("mill", "weir"):
        (mill.folder / folder).mkdir()
        (mill.folder / folder / "README.md").write_text(f"The {folder} has a gate.")
    (mill.folder / "weir" / "plan.md").write_text("A plan of the weir.")
    rows = ingest(mill, "mill", "weir").json["documents"]
    ids = {"/".join(Path(row["path"]).parts[-2:]): row["document_id"] for row in rows}
    for name in ("weir/plan.md", "plan.md", str(mill.folder / "weir" / "plan.md"), ids["weir/plan.md"]):
        assert mill("document", "show", name, "--json").json["document_id"] == ids["weir/plan.md"], name
    shown = mill("explain", "mill/README.md", "--json").json
    assert (shown["document_id"], shown["path"]) == (
        ids["mill/README.md"],
        str(mill.folder / "mill" / "README.md"),
    )
    assert mill("document", "get", "weir/README.md").out == "The weir has a gate."
    unclear = mill("document", "show", "README.md")
    assert unclear.code == 1
    for folder in ("mill", "weir"):
        assert f"{ids[f'{folder}/README.md']}  default  {mill.folder / folder / 'README.md'}" in unclear.err
    assert unclear.err.endswith("README.md\nUse an id, or more of a path, as DOCUMENT.\n"), unclear.err
    nobody = mill("document", "delete", "nothing.md", "--yes", "--json")
    assert (nobody.code, nobody.error["code"]) == (1, "not_found")

    listed = mill("document", "list").out
    searched = mill("search", "gate", "--mode", "text").out
    for folder in ("mill", "weir"):
        assert str(mill.folder / folder / "README.md") in listed
        assert str(mill.folder / folder / "README.md") in searched
        assert f"document {ids[f'{folder}/README.md']}  chunk " in searched
    only = mill("search", "gate", "--mode", "text", "--document", "weir/README.md", "--json").json["hits"]
    assert [(hit["document_id"], hit["path"]) for hit in only] == [
        (ids["weir/README.md"], str(mill.folder / "weir" / "README.md"))
    ]
    assert only[0]["chunk_id"] not in (None, ids["weir/README.md"])
    gone = mill("document", "delete", "weir/README.md", "mill/README.md", "--yes", "--json").json
    assert [row["document_id"] for row in gone["documents"]] == [
        ids["weir/README.md"],
        ids["mill/README.md"],
    ]


def test_any_name_on_disk_is_an_identity_a_database_can_keep(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.txt"))
    odd.write_text("odd")
    assert identity_of(odd).encode().decode() == f"file:{tmp_path}/\\xff\\xfe.txt"
    long = tmp_path.joinpath(*["d" * 200] * 4)
    assert len(identity_of(long / "a")) == LONGEST_EXTERNAL_ID
    assert identity_of(long / "a") != identity_of(long / "b")
    assert prefix_of(Path("/")) == "file:/"


def test_a_folder_that_cannot_be_read_proves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert _is_gone(tmp_path / "nothing")
    assert _is_gone(tmp_path / "file" / "below")
    assert not _is_gone(tmp_path / "file")
    assert not _is_gone(tmp_path / ("n" * 300)), "a name too long is no proof"
