"""Reads the templates of mails: those the rules may be tuned on, and the frozen sets."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from bench.mail.labels import LABELS

Part: TypeAlias = Literal[
    "tuned", "frozen", "second author", "confirming", "confirming again", "campaigns", "last"
]
PARTS: Final[tuple[Part, ...]] = (
    *("tuned", "frozen", "second author"),
    *("confirming", "confirming again", "campaigns", "last"),
)
Language: TypeAlias = Literal["en", "de", "fr", "es"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "de", "fr", "es")
FOLDER: Final = Path(__file__).parent / "templates"
FOLDERS: Final[dict[Part, Path]] = {
    "tuned": FOLDER,
    "frozen": FOLDER / "frozen",
    "second author": FOLDER / "second_author",
    "confirming": FOLDER / "confirming",
    "confirming again": FOLDER / "confirming_again",
    "campaigns": FOLDER / "campaigns",
    "last": FOLDER / "last",
}
NOT_TEMPLATES: Final = ("pages.toml", "covers.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachmentTemplate:
    """`type` is a key of `mime.TYPES`, `size` a range in KB; `earlier`: the sender's mails that had it."""

    name: str
    type: str
    size: tuple[float, float]
    label: str
    kind: Literal["file", "message", "link"] = "file"
    disposition: Literal["attachment", "inline", "none"] = "attachment"
    cid: bool = False
    shown: bool = False
    earlier: int = 0
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """`words` has subject, body and file name per language; `text` is the label of the mail's own text."""

    name: str
    about: str
    part: Part
    sender: str
    sender_name: str
    to: str
    via: str | None
    headers: Mapping[str, str]
    labels: frozenset[str]
    is_outgoing: bool
    text: str
    attachments: tuple[AttachmentTemplate, ...]
    words: Mapping[Language, Mapping[str, str]] = field(repr=False)


def templates(part: Part) -> list[Template]:
    folder = FOLDERS[part]
    covers = _read(folder / "covers.toml")
    found = [
        _template(each, part, covers)
        for path in sorted(folder.glob("*.toml"))
        if path.name not in NOT_TEMPLATES
        for each in _read(path)["template"]
    ]
    used = {label for each in found for label in (each.text, *(a.label for a in each.attachments))}
    if unknown := used - LABELS.keys():
        raise ValueError(f"there are no labels {sorted(unknown)}; add them to bench/mail/labels.py")
    return found


def pages(part: Part) -> Mapping[str, Mapping[Language, str]]:
    """The text of attached documents by label and language."""
    return _read(FOLDERS[part] / "pages.toml")


def frozen_digest(part: Part) -> str:
    """Over names and bytes of the frozen templates; a test compares it with the recorded one."""
    digest = hashlib.sha256()
    for path in sorted(FOLDERS[part].glob("*.toml")):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _read(path: Path) -> dict[str, Any]:
    """Empty if a set has no such file."""
    return tomllib.loads(path.read_text("utf-8")) if path.exists() else {}


def _template(given: dict[str, Any], part: Part, covers: Mapping[str, Any]) -> Template:
    cover = covers[given["cover"]] if "cover" in given else {}
    words = {language: {**cover.get(language, {}), **given[language]} for language in LANGUAGES}
    return Template(
        name=given["name"],
        about=given["about"],
        part=part,
        sender=given.get("from", "{first}@{domain}"),
        sender_name=given.get("who", "{person}"),
        to=given.get("to", "office@northmill.example"),
        via=given.get("via"),
        headers=given.get("headers", {}),
        labels=frozenset(given.get("labels", ())),
        is_outgoing=given.get("outgoing", False),
        text=given.get("text", "covering_note"),
        attachments=tuple(_attachments(given)),
        words=words,
    )


def _attachments(given: dict[str, Any]) -> Iterator[AttachmentTemplate]:
    if "brings" in given:
        kind = given.get("as", "pdf")
        yield AttachmentTemplate(name=f"{{file}}.{kind}", type=kind, size=(40, 300), label=given["brings"])
    for each in given.get("attachments", ()):
        yield AttachmentTemplate(**each)
