"""The results of sorting as tables: what became of documents and noise, and of each label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from bench.mail.sorting import PLACES, Result, Sorted, decisions, share
from bench.mail.template import Part
from bench.workloads import Verdict

DECISIONS: Final = ("keep", "ask", "drop")
LEAST_DROPPED: Final = 0.6
FIRST_AUTHOR: Final[tuple[Part, ...]] = ("tuned", "frozen")
AUTHORS: Final[tuple[Part, ...]] = (*FIRST_AUTHOR, "second author")


def required(results: Sequence[Result]) -> list[Verdict]:
    """Every document of every part; of the noise, enough of the parts that were to be dropped from."""
    kept = [
        Verdict(f"documents that stage 1 keeps, {result.part}", result.kept_documents(), 1.0)
        for result in results
    ]
    dropped = [
        Verdict(f"noise that stage 1 drops, {result.part}", result.dropped_noise(), LEAST_DROPPED)
        for result in results
        if result.part in FIRST_AUTHOR
    ]
    return [*kept, *dropped, overall(results)]


def overall(results: Sequence[Result]) -> Verdict:
    """The noise of both authors; the confirming parts are mostly files, which stage 1 may not drop."""
    noise = [each for result in results if result.part in AUTHORS for each in result.of(False)]
    return Verdict(f"noise that stage 1 drops, {', '.join(AUTHORS)}", share(noise, "drop"), LEAST_DROPPED)


def required_of_second(name: str, result: Result) -> Verdict:
    documents = result.asked(True)
    kept = 1.0 if not documents else 1 - result.lost_documents() / documents
    return Verdict(f"documents that stage 2 ({name}) keeps, {result.part}", kept, 1.0)


def tables(result: Result, second: str | None) -> list[str]:
    attachments, texts = result.dropped_noise("attachment"), result.dropped_noise("text")
    dropped = (
        f"Noise dropped: {result.dropped_noise():.1%} ({attachments:.1%} of attachments, {texts:.1%} of"
        f" texts), for the right reason {result.right_reasons():.1%}."
    )
    lines = [
        f"## {result.part.capitalize()} templates",
        "",
        f"{result.mails} mails, {len(result.items)} items; {result.microseconds:,.0f} µs per mail. {dropped}",
        "",
        *stage_1(result),
        "",
        *by_label(result),
    ]
    return lines if second is None else [*lines, "", *stage_2(result, second)]


def stage_1(result: Result) -> list[str]:
    rows = [
        [f"{'document' if is_document else 'noise'}, {place}", *_counts(result.of(is_document, place))]
        for is_document in (True, False)
        for place in PLACES
    ]
    return _table(["stage 1", *DECISIONS], rows)


def by_label(result: Result) -> list[str]:
    labels = sorted({(not each.is_document, each.item.label) for each in result.items})
    rows = []
    for _, label in labels:
        items = [each for each in result.items if each.item.label == label]
        reasons = Counter(each.verdict.skip_reason for each in items if each.verdict.skip_reason)
        told = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
        rows.append([label, *_counts(items), told])
    return _table(["label", *DECISIONS, "reasons"], rows)


def stage_2(result: Result, second: str) -> list[str]:
    """What the classifier made of the items that the rules asked about."""
    lost, documents = result.lost_documents(), result.asked(True)
    skipped_noise, noise = result.skipped_noise(), result.asked(False)
    told = (
        f"Stage 2 ({second}), {result.part}: skipped {skipped_noise} of {noise} items of noise,"
        f" and {lost} of {documents} documents."
    )
    asked = [each for each in result.items if each.found is not None]
    classes = sorted({each.found for each in asked if each.found is not None})
    rows = []
    for label in sorted({each.item.label for each in asked}):
        items = [each for each in asked if each.item.label == label]
        found = Counter(each.found for each in items)
        skipped = sum(each.is_skipped for each in items)
        rows.append([label, str(len(items) - skipped), str(skipped), *(str(found[name]) for name in classes)])
    return [told, "", *_table([f"stage 2 ({second})", "kept", "skipped", *classes], rows)]


def _counts(items: Iterable[Sorted]) -> list[str]:
    counted = decisions(items)
    return [str(counted[name]) for name in DECISIONS]


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [headings, ["---", *("--:" for _ in headings[1:])], *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
