"""Patterns and parsers that meet the text of documents and mails on a loop, with their worst inputs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from penstock.embed.remote import embedder
from penstock.embed.remote.cohere import CohereWire
from penstock.embed.remote.cohere import model_of as cohere_model
from penstock.embed.remote.voyage import VoyageWire
from penstock.embed.remote.voyage import model_of as voyage_model
from penstock.embed.tokens import counter
from penstock.model.document_signs import document_sign, has_amount, has_date_or_reference
from penstock.pipeline.classify import local as local_classifier
from penstock.pipeline.classify.to_classify import LONGEST_TEXT as LONGEST_CLASSIFIED
from penstock.pipeline.classify.to_classify import ToClassify
from penstock.pipeline.parse import docling
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.result import primary
from penstock.processes.channels.channel import ProviderFailed
from penstock.processes.channels.email_message import EmailAttachment, EmailRequest, compose
from penstock.search.answer import Snippet
from penstock.sources.mail.message import LONGEST_TEXT, MOST_ATTACHMENTS, Mail, MailAttachment
from penstock.sources.mail.rules.judge import judge
from tests.security.hostile_texts import BODY, COMMON, HEADER, each


def _mail(text: str) -> None:
    sound: dict[str, Any] = {
        "subject": "a",
        "message_id": "<a@b>",
        "from_address": "a@b.example",
        "reply_to": "a@b.example",
    }
    for field in sound:
        for size in (200, 990, len(text)):
            with suppress(ProviderFailed):
                request = EmailRequest(
                    to_addresses=("c@d.example",), body_text="a", **{**sound, field: text[:size]}
                )
                compose(request, None)
    for address in (
        text[:190] + " <a@b.example>",
        text[:900] + "@b.example",
        "a@" + text[:900],
        f"a <{text}>",
    ):
        with suppress(ProviderFailed):
            compose(EmailRequest(to_addresses=(address,), body_text="a", **sound), None)
    for name, kind in ((text[:990], text), (text, "text/plain")):
        with suppress(ProviderFailed):
            attachment = EmailAttachment(filename=name, mime_type=kind, content_base64="YQ==")
            compose(
                EmailRequest(
                    to_addresses=("c@d.example",), body_text="a", attachments=(attachment,), **sound
                ),
                None,
            )


def _docling(text: str) -> None:
    docling._parsed({"status": "success", "document": {"md_content": f"words\n\n| a |\n{text}\n\n- {text}"}})
    primary(text)
    cleaned_line(text)


def _vendors(text: str) -> None:
    for wire in (CohereWire(cohere_model(None), "k"), VoyageWire(voyage_model(None), "k")):
        with suppress(ValueError):
            wire.read(text.encode("utf-8", "replace"))
    embedder._same("text-embedding", "text-embedding-1" + text)


def _rules(text: str) -> None:
    """A mail as long as a mailbox makes it; the texts beside the body are not cut there."""
    each = MailAttachment(part="2", filename=text, media_type=text, size=1)
    judge(
        Mail(
            id="1",
            message_id=None,
            thread_id=None,
            sender=text,
            sender_name="",
            to=(text,),
            cc=(),
            subject=text,
            received_at=None,
            headers=dict.fromkeys(("list-id", "precedence", "content-type", "auto-submitted"), text),
            folder=text,
            text=text,
            attachments=(each,) * MOST_ATTACHMENTS,
        )
    )


def _tokens(name: str) -> Callable[[str], object]:
    """Syncs count the tokens of records and clients, whose texts they cut far below this."""

    def count(text: str) -> None:
        counted = counter(name)
        counted.count(text)
        counted.count_word(text)

    return count


TOKENS: Final = (*COMMON, "<0x", "</s>", "<unk>", "\u0301", "漢", "😀")
SIGNS: Final = ("_AMOUNT", "_CURRENCY", "_PRICE", "_DATE", "_REFERENCE", "_FIGURE", "_COLUMNS", "_TO_SIGN")


def _classified(text: str) -> None:
    asked = ToClassify.of(filename="", subject=text, sender="", media_type="", size=0, text=text)
    local_classifier._unsure(asked)
    ToClassify.of(filename="", subject="", sender="", media_type="", size=0, text=f"a\nFrom: {text}")
    has_amount(text)
    has_date_or_reference(text)
    document_sign(text)


ON_THE_LOOP: Final[dict[str, Callable[[], None]]] = {
    "penstock.pipeline.classify.local._WORD": each(_classified, LONGEST_CLASSIFIED),
    "penstock.pipeline.classify.to_classify._HEAD": each(_classified, LONGEST_CLASSIFIED),
    **{
        f"penstock.model.document_signs.{name}": each(
            _classified, LONGEST_CLASSIFIED, "1", "1,", "1.2", "1 ", "EUR ", "1,23 EU", "a  ", "a ;", "_"
        )
        for name in SIGNS
    },
    "penstock.embed.tokens.LlamaCounter.__init__": each(_tokens("llama"), 20_000, *TOKENS),
    "penstock.embed.tokens._minilm": each(_tokens("minilm"), 20_000, *TOKENS),
    "penstock.processes.channels.email_message._CONTROL": each(_mail, 2_000, "\x01", "\n", ";", ","),
    "penstock.processes.channels.email_message._MIME_TYPE": each(_mail, 2_000, "a/", "a", "/"),
    "penstock.processes.channels.email_message._NAMED": each(_mail, HEADER, "<", ">", "<a>"),
    "penstock.processes.channels.email_message._NOT_IN_LOCAL_PART": each(_mail, HEADER, "a", "@"),
    "penstock.processes.channels.email_message:email.headerregistry": each(
        _mail, 2_000, "é ", "=?", "(", "[", "a."
    ),
    "penstock.processes.channels.email_message:email.message": each(_mail, 2_000, "é", "\\", "a "),
    "penstock.processes.channels.email_message:email.policy": each(_mail, 2_000, "=?utf-8?q?", "\x80"),
    "penstock.processes.channels.email_message:email.utils": each(_mail, HEADER, "é"),
    "penstock.embed.remote.embedder._same": each(_vendors, BODY // 4, "a", ".", "1", "-1", "[", '{"data":['),
    # Docling's answers are read in the worker's process: in a thread, but a pattern holds the interpreter.
    "penstock.pipeline.parse.blocks._DELIMITER_ROW": each(
        _docling, 40_000, "|-", "|", "- ", " ", "-", ":-", "|-\n"
    ),
    "penstock.pipeline.parse.blocks._FENCE": each(_docling, 40_000, "`", "```\n", "~", "````\n```\n"),
    "penstock.pipeline.parse.blocks._HEADING": each(
        _docling, 40_000, "#", "# ", " #", "#\n", "# \t", "> ", ">"
    ),
    "penstock.pipeline.parse.blocks._ITEM": each(_docling, 40_000, "- ", "1.", "-\n", "- a\n\n", "1"),
    "penstock.pipeline.parse.blocks._TAGGED": each(
        _docling, 40_000, "<h1", "<p ", "<p>", "<h1>\n", "<div><h2>a\n", "<a "
    ),
    "penstock.pipeline.parse.blocks._UNDERLINE": each(_docling, 40_000, "=", "= ", "-", "a\n=\n"),
    "penstock.pipeline.parse.clean._CHANGED": each(_docling, 40_000, "\u200b", "\xa0a"),
    "penstock.pipeline.parse.clean._GAPS": each(_docling, 40_000, "\n", "\n\n\na"),
    "penstock.pipeline.parse.clean._MADE_BY": each(_docling, 40_000, "Microsoft Word - ", "Microsoft "),
    "penstock.pipeline.parse.clean._NO_TITLE": each(
        _docling, 40_000, "untitled", "!", "document1", "slide 1"
    ),
    "penstock.pipeline.parse.clean._TRAILING": each(_docling, 40_000, " ", "\t", " a", " \n"),
    "penstock.pipeline.parse.clean:email.utils": each(_docling, 40_000, "Mon, ", "1 "),
    "penstock.pipeline.parse.language._ARABIC": each(_docling, 40_000, "ي", "ي ", "يa"),
    "penstock.pipeline.parse.language._NOT_ARABIC": each(_docling, 40_000, "پ", "پي"),
    "penstock.pipeline.parse.language._CYRILLIC": each(_docling, 40_000, "ж", "ж ", "жa"),
    "penstock.pipeline.parse.language._RUSSIAN": each(_docling, 40_000, "ы", "жы"),
    "penstock.pipeline.parse.language._NOT_RUSSIAN": each(_docling, 40_000, "ї", "жї"),
    "penstock.pipeline.parse.language._GREEK": each(_docling, 40_000, "λ", "λ ", "λa"),
    "penstock.pipeline.parse.language._WORD": each(_docling, 40_000, "a", "the ", "é"),
    "penstock.pipeline.parse.result.primary": each(_docling, 40_000, " ", "de", "de-"),
    "penstock.sources.mail.rules.words._TOKEN": each(
        _rules, LONGEST_TEXT, "a", "a ", "1a", "_", "\u0301", "\ufdfa", "invoice", "total paid ", "\xdf"
    ),
    "penstock.search.answer.Snippet": each(
        lambda text: Snippet.parse(text).html, 10_000, "\ue000", "\ue000\ue001", "<"
    ),
}
