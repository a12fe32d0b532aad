"""Writes plain files whose content is known: text, CSV, code, subtitles, mail, records, patents, filings."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

from bench.reading.made.markup import STORIES, Story
from bench.reading.truth import Truth

Paths = tuple[tuple[str, ...], ...]
_SENTENCE = re.compile(r"[^.]+\.")
_SENT = "Tue, 04 Mar 2025 05:06:07 +0000"


def make(folder: Path) -> list[Truth]:
    """Each kind three times, once per story."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        write(folder / f"{kind}-{number}.{ending}", story)
        for kind, (ending, write) in KINDS.items()
        for number, story in enumerate(STORIES)
    ]


def _order(story: Story) -> tuple[str, ...]:
    return tuple(title for _, title, _ in story.sections)


def plain_text(path: Path, story: Story) -> Truth:
    parts = [
        story.title,
        story.author,
        *(f"{title}\n\n{text}" for _, title, text in story.sections),
        story.note,
    ]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return Truth(path, "text", " ".join(parts), order=_order(story))


def comma_separated(path: Path, story: Story) -> Truth:
    rows = (*story.table, *((title, text)[: len(story.table[0])] for _, title, text in story.sections))
    held = io.StringIO()
    csv.writer(held).writerows(rows)
    path.write_text(held.getvalue(), encoding="utf-8")
    return Truth(path, "csv", " ".join(cell for row in rows for cell in row), (rows,))


def subtitles(path: Path, story: Story) -> Truth:
    """A cue per sentence; the times are what a player shows, so they do not count as words."""
    said = [sentence.strip() for _, _, text in story.sections for sentence in _SENTENCE.findall(text)]
    is_web = path.suffix == ".vtt"
    cues = [
        f"{'' if is_web else f'{at + 1}{chr(10)}'}"
        f"{_clock(4 * at, is_web)} --> {_clock(4 * at + 3, is_web)}\n{sentence}\n"
        for at, sentence in enumerate(said)
    ]
    path.write_text("\n".join([*(["WEBVTT\n"] if is_web else []), *cues]), encoding="utf-8")
    return Truth(path, "subtitles", " ".join(said), order=tuple(said))


def _clock(seconds: int, is_web: bool) -> str:
    return f"00:{seconds // 60:02}:{seconds % 60:02}{'.' if is_web else ','}000"


def mail(path: Path, story: Story) -> Truth:
    message = EmailMessage()
    message["From"], message["To"] = "jane@mill.example", "ben@mill.example"
    message["Subject"], message["Date"] = story.title, _SENT
    body = "\n\n".join(f"{title}\n\n{text}" for _, title, text in story.sections)
    message.set_content(f"{story.author}\n\n{body}\n\n{story.note}\n")
    path.write_bytes(bytes(message))
    head = f"{story.title} jane@mill.example ben@mill.example 04 Mar 2025"
    text = f"{head} {story.author} {body} {story.note}"
    return Truth(path, "mail", text, headings=((story.title,),), order=_order(story))


def json_lines(path: Path, story: Story) -> Truth:
    header, *rows = story.table
    records = [dict(zip(header, row, strict=True)) for row in rows]
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth(path, "jsonl", " ".join(cell for row in story.table for cell in row), (story.table,))


def python(path: Path, story: Story) -> Truth:
    """A class per section, with a method that returns the section's text."""
    parts = [f'"""{story.title}"""\n']
    headings: list[tuple[str, ...]] = []
    for number, (_, title, text) in enumerate(story.sections):
        parts.append(
            f"class Section{number}:\n    # {title}\n    def text_{number}(self):\n        return {text!r}\n"
        )
        headings += [(path.name, f"Section{number}"), (path.name, f"Section{number}", f"text_{number}")]
    return _code(path, story, "\n\n".join(parts), tuple(headings))


def java(path: Path, story: Story) -> Truth:
    parts = [f"// {story.title}\npublic class Story {{"]
    headings: list[tuple[str, ...]] = [(path.name, "Story")]
    for number, (_, title, text) in enumerate(story.sections):
        parts.append(
            f"    /** {title} */\n    public String text{number}() {{\n"
            f"        return {json.dumps(text, ensure_ascii=False)};\n    }}\n"
        )
        headings.append((path.name, "Story", f"text{number}"))
    return _code(path, story, "\n".join([*parts, "}\n"]), tuple(headings))


def _code(path: Path, story: Story, code: str, headings: Paths) -> Truth:
    path.write_text(code, encoding="utf-8")
    return Truth(path, "code", code, headings=headings, order=_order(story))


def patent(path: Path, story: Story) -> Truth:
    """As the US patent office publishes them."""
    given, _, family = story.author.partition(" ")
    body = "".join(
        f'<heading level="{level - 1}">{title}</heading><p>{text}</p>'
        for level, title, text in story.sections
    )
    rows = "".join(
        "<row>" + "".join(f"<entry>{cell}</entry>" for cell in row) + "</row>" for row in story.table
    )
    number = f"1012345{len(story.title) % 10}"
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE us-patent-grant SYSTEM "us-patent-grant-v45-2014-04-03.dtd" [ ]>\n'
        '<us-patent-grant lang="EN" dtd-version="v4.5"><us-bibliographic-data-grant><publication-reference>'
        f"<document-id><country>US</country><doc-number>{number}</doc-number></document-id>"
        f"</publication-reference><invention-title>{story.title}</invention-title><us-parties><inventors>"
        f"<inventor><addressbook><last-name>{family}</last-name><first-name>{given}</first-name></addressbook>"
        "</inventor></inventors></us-parties></us-bibliographic-data-grant>"
        f"<abstract><p>{story.note}</p></abstract><description>{body}<tables><table><tgroup><tbody>{rows}"
        "</tbody></tgroup></table></tables></description>"
        f"<claims><claim><claim-text>1. {story.note}</claim-text></claim></claims></us-patent-grant>",
        encoding="utf-8",
    )
    said = f"US {number} {story.text()} 1 {story.note}"
    headings = ((story.title,), *((title,) for _, title, _ in story.sections))
    return Truth(path, "patent", said, (story.table,), headings, _order(story))


def filing(path: Path, story: Story) -> Truth:
    """Figures and blocks of text with their context, as in XBRL."""
    rows = story.table[1:]
    figures = "".join(
        f'<mill:Item{number} contextRef="FY2025" unitRef="EUR">{cell}</mill:Item{number}>'
        for number, cell in enumerate(cell for row in rows for cell in row)
    )
    blocks = "".join(
        f'<mill:Part{number}TextBlock contextRef="FY2025">{title}. {text}</mill:Part{number}TextBlock>'
        for number, (_, title, text) in enumerate(story.sections)
    )
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<xbrli:xbrl xmlns:xbrli="http://www.xbrl.org/2003/instance" xmlns:mill="http://mill.example/2026">'
        '<xbrli:context id="FY2025"><xbrli:entity><xbrli:identifier scheme="cik">0000123456'
        "</xbrli:identifier></xbrli:entity><xbrli:period><xbrli:instant>2025-12-31</xbrli:instant>"
        "</xbrli:period></xbrli:context>"
        '<xbrli:unit id="EUR"><xbrli:measure>iso4217:EUR</xbrli:measure></xbrli:unit>'
        f"{figures}{blocks}</xbrli:xbrl>",
        encoding="utf-8",
    )
    said = " ".join(f"{title} {text}" for _, title, text in story.sections)
    cells = " ".join(cell for row in rows for cell in row)
    return Truth(path, "xbrl", f"0000123456 2025 12 31 {cells} {said}", order=_order(story))


KINDS: dict[str, tuple[str, Callable[[Path, Story], Truth]]] = {
    "text": ("txt", plain_text),
    "csv": ("csv", comma_separated),
    "srt": ("srt", subtitles),
    "vtt": ("vtt", subtitles),
    "mail": ("eml", mail),
    "jsonl": ("jsonl", json_lines),
    "python": ("py", python),
    "java": ("java", java),
    "patent": ("xml", patent),
    "xbrl": ("xml", filing),
}
"""The files, each with its extension and its writer; a kind of truth may have several."""
