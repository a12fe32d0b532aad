"""Writes documents in textual markup whose content is known: sections, tables, notes, right-to-left text."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.reading.truth import Truth

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Story:
    """What a document says: sections of two levels, a table and a note."""

    title: str
    author: str
    sections: tuple[tuple[int, str, str], ...]
    """Level, title and text."""
    table: Rows
    note: str

    def paths(self) -> tuple[tuple[str, ...], ...]:
        found: list[tuple[str, ...]] = [(self.title,)]
        above = ""
        for level, title, _ in self.sections:
            if level == 2:
                above = title
            found.append((self.title, title) if level == 2 else (self.title, above, title))
        return tuple(found)

    def text(self) -> str:
        cells = " ".join(cell for row in self.table for cell in row)
        said = " ".join(f"{title} {text}" for _, title, text in self.sections)
        return f"{self.title} {self.author} {said} {cells} {self.note}"


STORIES = (
    Story(
        "Water wheels of the valley",
        "Jane Miller",
        (
            (2, "History", "The first mill was built in 1402 by the abbey. It ground rye and spelt."),
            (3, "The flood", "In 1704 the river took the weir, and the wheel stood still for nine years."),
            (2, "Machines", "An overshot wheel turns slowly, yet it uses most of the power."),
            (3, "Gears", "Wooden teeth of hornbeam run quietly against iron."),
        ),
        (("Wheel", "Power"), ("Undershot", "4 kW"), ("Overshot", "11 kW"), ("Breastshot", "7 kW")),
        "Measured in the dry summer of 1911.",
    ),
    Story(
        "تقرير المياه السنوي",
        "ليلى حداد",
        (
            (2, "مقدمة", "يصف هذا التقرير استهلاك المياه في المدينة خلال العام الماضي."),
            (3, "المصادر", "تأتي المياه من النهر ومن الآبار القريبة."),
            (2, "النتائج", "انخفض الاستهلاك بعد إصلاح الشبكة القديمة."),
        ),
        (("الشهر", "الكمية"), ("يناير", "120"), ("فبراير", "95")),
        "الأرقام تقريبية فقط.",
    ),
    Story(
        "Prüfbericht der Schleuse",
        "Jörg Größer",
        (
            (2, "Zustand", "Die Tore schließen dicht, und die Dichtungen wurden erneuert."),
            (3, "Antrieb", "Der Motor läuft ruhig; das Öl wurde gewechselt."),
            (3, "Steuerung", "Die Anzeige im Leitstand stimmt mit dem Pegel überein."),
            (2, "Empfehlung", "Nächste Prüfung in zwei Jahren."),
        ),
        (("Teil", "Note", "Jahr"), ("Tor", "gut", "2021"), ("Motor", "sehr gut", "2019")),
        "Gemessen bei Niedrigwasser.",
    ),
)


def make(folder: Path) -> list[Truth]:
    """Write every story in every kind."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for kind, (ending, write) in KINDS.items():
        for number, story in enumerate(STORIES):
            path = folder / f"{kind}-{number}.{ending}"
            path.write_text(write(story), encoding="utf-8")
            order = tuple(title for _, title, _ in story.sections)
            found.append(Truth(path, kind, story.text(), (story.table,), story.paths(), order))
    return found


def _latex(story: Story) -> str:
    names = {2: "section", 3: "subsection"}
    body = "\n\n".join(f"\\{names[level]}{{{title}}}\n{text}" for level, title, text in story.sections)
    rows = " \\\\\n".join(" & ".join(row) for row in story.table)
    columns = "l" * len(story.table[0])
    return (
        "\\documentclass{article}\n\\usepackage[utf8]{inputenc}\n"
        f"\\title{{{story.title}}}\n\\author{{{story.author}}}\n\\begin{{document}}\n\\maketitle\n"
        f"{body}\\footnote{{{story.note}}}\n\n"
        f"\\begin{{tabular}}{{{columns}}}\n{rows} \\\\\n\\end{{tabular}}\n\\end{{document}}\n"
    )


def _asciidoc(story: Story) -> str:
    body = "\n\n".join(f"{'=' * level} {title}\n\n{text}" for level, title, text in story.sections)
    rows = "\n".join("".join(f"|{cell} " for cell in row) for row in story.table)
    head = f"= {story.title}\n:author: {story.author}\n\n{story.author}\n\n"
    return f"{head}{body}footnote:[{story.note}]\n\n|===\n{rows}\n|===\n"


def _rst(story: Story) -> str:
    def under(title: str, sign: str) -> str:
        return f"{title}\n{sign * (len(title) + 2)}"

    signs = {2: "-", 3: "~"}
    body = "\n\n".join(f"{under(title, signs[level])}\n\n{text}" for level, title, text in story.sections)
    widths = [max(len(row[at]) for row in story.table) + 2 for at in range(len(story.table[0]))]
    rule = "+" + "+".join("-" * width for width in widths) + "+"
    rows = []
    for row in story.table:
        cells = "|".join(f" {cell}".ljust(width) for cell, width in zip(row, widths, strict=True))
        rows += [f"|{cells}|", rule]
    table = "\n".join((rule, *rows))
    return (
        f"{under(story.title, '=')}\n\n:Author: {story.author}\n\n{body} [1]_\n\n{table}\n\n"
        f".. [1] {story.note}\n"
    )


def _org(story: Story) -> str:
    body = "\n".join(f"{'*' * (level - 1)} {title}\n{text}\n" for level, title, text in story.sections)
    rows = ["| " + " | ".join(row) + " |" for row in story.table]
    rows.insert(1, "|---" * len(story.table[0]) + "|")
    head = f"#+TITLE: {story.title}\n#+AUTHOR: {story.author}\n\n"
    return f"{head}{body}See the note.[fn:1]\n\n" + "\n".join(rows) + f"\n\n[fn:1] {story.note}\n"


def _notebook(story: Story) -> str:
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown", "metadata": {}, "source": [f"# {story.title}\n", "\n", story.author]}
    ]
    for level, title, text in story.sections:
        cells.append({"cell_type": "markdown", "metadata": {}, "source": f"{'#' * level} {title}\n\n{text}"})
    rows = ["| " + " | ".join(row) + " |" for row in story.table]
    rows.insert(1, "|---" * len(story.table[0]) + "|")
    cells.append({"cell_type": "markdown", "metadata": {}, "source": "\n".join((*rows, "", story.note))})
    cells.append({"cell_type": "code", "source": "print(1)", "outputs": [], "execution_count": 1})
    return json.dumps(
        {"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}, ensure_ascii=False
    )


def _jats(story: Story) -> str:
    given, _, family = story.author.partition(" ")
    body, is_open = "", 0
    for level, title, text in story.sections:
        while is_open >= level - 1:
            body += "</sec>"
            is_open -= 1
        body += f"<sec><title>{title}</title><p>{text}</p>"
        is_open += 1
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in story.table)
    body += f"<p>End<fn><p>{story.note}</p></fn>.</p><table-wrap><table>{rows}</table></table-wrap>"
    body += "</sec>" * is_open
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE article PUBLIC '
        '"-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.2//EN" "JATS-journalpublishing1.dtd">\n'
        "<article><front><article-meta><title-group>"
        f"<article-title>{story.title}</article-title></title-group><contrib-group>"
        f'<contrib contrib-type="author"><name><surname>{family}</surname>'
        f"<given-names>{given}</given-names></name></contrib></contrib-group></article-meta></front>"
        f"<body>{body}</body></article>"
    )


def _docbook(story: Story) -> str:
    body, is_open = "", 0
    for level, title, text in story.sections:
        while is_open >= level - 1:
            body += "</section>"
            is_open -= 1
        body += f"<section><title>{title}</title><para>{text}</para>"
        is_open += 1
    rows = "".join(
        "<row>" + "".join(f"<entry>{cell}</entry>" for cell in row) + "</row>" for row in story.table
    )
    body += f"<para>{story.note}</para><informaltable><tgroup><tbody>{rows}</tbody></tgroup></informaltable>"
    body += "</section>" * is_open
    head = f'<?xml version="1.0"?>\n<article><title>{story.title}</title>'
    return f"{head}<para>{story.author}</para>{body}</article>"


def _json(story: Story) -> str:
    """Keys are the headings: an object per section."""
    root: dict[str, object] = {"author": story.author, "note": story.note}
    section: dict[str, object] = {}
    for level, title, text in story.sections:
        if level == 2:
            section = root[title] = {"text": _long(text)}  # type: ignore[assignment]  # the same object
        else:
            section[title] = {"text": _long(text)}
    header, *rows = story.table
    root["rows"] = [dict(zip(header, row, strict=True)) for row in rows]
    return json.dumps({story.title: root}, ensure_ascii=False, indent=1)


def _long(text: str) -> str:
    """Long enough for a paragraph of its own."""
    return " ".join([text] * (1 + 320 // len(text)))


Writer = Callable[[Story], str]
KINDS: dict[str, tuple[str, Writer]] = {
    "latex": ("tex", _latex),
    "asciidoc": ("adoc", _asciidoc),
    "rst": ("rst", _rst),
    "org": ("org", _org),
    "notebook": ("ipynb", _notebook),
    "jats": ("nxml", _jats),
    "xml": ("xml", _docbook),
    "json": ("json", _json),
}
"""The kinds, each with its extension and its writer."""
