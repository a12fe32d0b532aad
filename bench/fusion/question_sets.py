"""Documents, and questions with the documents that answer them: our own, and public collections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.relevance.corpus import asked, pages

LONGEST_QUESTION = 4_000
COLLECTIONS = {"Cranfield": "cran.all.1400", "CISI": "CISI.ALL"}
"""The file that has the documents of each."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Markdown by file name, and for each question the names of the files that answer it."""

    name: str
    documents: dict[str, str]
    questions: list[tuple[str, frozenset[str]]]
    language: str = "en"


def own() -> QuestionSet:
    """Our documentation and Python's library."""
    questions = [(each.text, frozenset({each.filename})) for each in asked()]
    return QuestionSet("documentation and library", dict(pages()), questions)


def absent(folder: Path | None) -> list[str]:
    """The collections that have no files in the folder."""
    return [name for name, file in COLLECTIONS.items() if folder is None or not (folder / file).exists()]


def collections(folder: Path) -> Iterator[QuestionSet]:
    """Cranfield (`cran.all.1400`, `cran.qry`, `cranqrel`) and CISI (`CISI.ALL`, `.QRY`, `.REL`)."""
    missing = absent(folder)
    if "Cranfield" not in missing:
        answers: dict[str, set[str]] = {}
        for line in (folder / "cranqrel").read_text().splitlines():
            if len(parts := line.split()) >= 3 and 1 <= int(parts[2]) <= 4:
                answers.setdefault(parts[0], set()).add(parts[1])
        questions = _records(folder / "cran.qry")
        # Judgements are by the place of a question; its own number has gaps.
        numbered = {str(place): fields for place, (_, fields) in enumerate(questions, 1)}
        yield _collection("Cranfield", folder / "cran.all.1400", numbered, answers)
    if "CISI" not in missing:
        answers = {}
        for line in (folder / "CISI.REL").read_text().splitlines():
            if len(parts := line.split()) >= 2:
                answers.setdefault(parts[0], set()).add(parts[1])
        yield _collection("CISI", folder / "CISI.ALL", dict(_records(folder / "CISI.QRY")), answers)


def _collection(
    name: str, documents: Path, questions: dict[str, dict[str, str]], answers: dict[str, set[str]]
) -> QuestionSet:
    texts = {
        f"{number}.md": f"# {fields.get('T', '')}\n\n{fields.get('W', '')}"
        for number, fields in _records(documents)
        if fields.get("W")
    }
    asked = [
        (fields["W"][:LONGEST_QUESTION], frozenset(f"{answer}.md" for answer in answers[number]))
        for number, fields in questions.items()
        if fields.get("W") and answers.get(number)
    ]
    return QuestionSet(name, texts, asked)


def _records(path: Path) -> list[tuple[str, dict[str, str]]]:
    """Records of the SMART format: `.I` and a number, then fields named by one letter."""
    found = []
    for record in re.split(r"^\.I ", path.read_text(errors="replace"), flags=re.MULTILINE)[1:]:
        number, _, rest = record.partition("\n")
        parts = re.split(r"^\.([A-Z]) ?$", rest, flags=re.MULTILINE)
        fields: dict[str, str] = {}
        for at in range(1, len(parts), 2):
            fields.setdefault(parts[at], " ".join(parts[at + 1].split()))
        found.append((number.strip(), fields))
    return found
