"""Reads the templates of mails: those the rules may be tuned on, and the frozen ones."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from bench.mail.labels import LABELS

Part: TypeAlias = Literal["tuned", "frozen"]
Language: TypeAlias = Literal["en", "de", "fr", "es"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "de", "fr", "es")
FOLDER: Final = Path(__file__).parent / "templates"


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
    folder = _folder(part)
    found = [
        _template(each, part)
        for name in ("documents.toml", "noise.toml")
        for each in tomllib.loads((folder / name).read_text("utf-8"))["template"]
    ]
    used = {label for each in found for label in (each.text, *(a.label for a in each.attachments))}
    if unknown := used - LABELS.keys():
        raise ValueError(f"there are no labels {sorted(unknown)}; add them to bench/mail/labels.py")
    return found


def pages(part: Part) -> Mapping[str, Mapping[Language, str]]:
    """The text of attached documents by label and language."""
    return tomllib.loads((_folder(part) / "pages.toml").read_text("utf-8"))


def frozen_digest() -> str:
    """Over names and bytes of the frozen files; a test compares it with the recorded one."""
    digest = hashlib.sha256()
    for path in sorted(_folder("frozen").iterdir()):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _folder(part: Part) -> Path:
    return FOLDER / "frozen" if part == "frozen" else FOLDER


def _template(given: dict[str, Any], part: Part) -> Template:
    return Template(
        name=given["name"],
        about=given["about"],
        part=part,
        sender=given["from"],
        sender_name=given["who"],
        to=given.get("to", "office@northmill.example"),
        via=given.get("via"),
        headers=given.get("headers", {}),
        labels=frozenset(given.get("labels", ())),
        is_outgoing=given.get("outgoing", False),
        text=given["text"],
        attachments=tuple(AttachmentTemplate(**each) for each in given["attachments"]),
        words={language: given[language] for language in LANGUAGES},
    )
