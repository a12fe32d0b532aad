"""`python -m bench mail`: sort the labelled mails by the rules, print what became of them, judge it."""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import sys
from collections.abc import Sequence

from bench import machine, report
from bench.mail.generate import SEED, VARIANTS
from bench.mail.local_stage import local_stage
from bench.mail.page import required, required_of_second, stage_2, tables
from bench.mail.sorting import Result, decisions, sort_mails
from bench.mail.template import PARTS, Part, frozen_digest
from penstock.embed.models_dir import minilm_is_installed
from penstock.pipeline.classify.local import MINILM, WORDLLAMA
from penstock.settings import Settings
from penstock.sources.mail.rules.judge import RULES_VERSION


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench mail", description=__doc__)
    parser.add_argument("--name", default="mail", help="name of the result files")
    return parser.parse_args(words)


async def run(words: Sequence[str]) -> int:
    options = arguments(words)
    results = [await sort_mails(part) for part in PARTS]
    by_second = await second_stages()
    verdicts = [
        *required(results),
        *(
            required_of_second(name, result)
            for name, sorted_by in by_second.items()
            for result in sorted_by.values()
        ),
    ]
    facts: dict[str, object] = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": " ".join(["python -m bench mail", *words]),
        "machine": machine.describe(None),
        "versions": machine.versions(("penstock",), None),
        "rules": {"version": RULES_VERSION},
        "sizes": {"seed": SEED, "mails per template and language": VARIANTS},
        **{f"templates, {part}": f"sha256 {frozen_digest(part)}" for part in PARTS if part != "tuned"},
    }
    pages = [line for result in results for line in ("", *tables(result, None))]
    for name, sorted_by in by_second.items():
        pages += ["", f"## Stage 2: {name}"]
        pages += [line for result in sorted_by.values() for line in ("", *stage_2(result, name))]
    page = "\n".join([*report.heading(facts, verdicts), *pages]) + "\n"
    parts = {
        result.part: {
            **figures(result),
            "stage 2": {
                name: second_figures(sorted_by[result.part]) for name, sorted_by in by_second.items()
            },
        }
        for result in results
    }
    told = [{"claim": v.claim, "measured": v.measured, "passed": v.passed} for v in verdicts]
    report.RESULTS.mkdir(exist_ok=True)
    (report.RESULTS / f"{options.name}.md").write_text(page)
    (report.RESULTS / f"{options.name}.json").write_text(
        json.dumps({**facts, "parts": parts, "verdicts": told}, indent=2) + "\n"
    )
    report.show(page)
    return 0 if all(verdict.passed for verdict in verdicts) else 1


async def second_stages() -> dict[str, dict[Part, Result]]:
    """All parts sorted by each local model that is installed."""
    settings = Settings()
    found = {}
    for calibration in (WORDLLAMA, MINILM):
        if calibration is MINILM and not minilm_is_installed(settings):
            continue
        async with local_stage(settings, calibration) as second:
            found[second.name] = {part: await sort_mails(part, second) for part in PARTS}
    return found


def second_figures(result: Result) -> dict[str, int]:
    return {
        "documents asked about": result.asked(True),
        "documents lost": result.lost_documents(),
        "noise asked about": result.asked(False),
        "noise skipped": result.skipped_noise(),
    }


def figures(result: Result) -> dict[str, object]:
    return {
        "mails": result.mails,
        "microseconds per mail": round(result.microseconds, 1),
        "documents": dict(decisions(result.of(True))),
        "noise": dict(decisions(result.of(False))),
        "kept documents": result.kept_documents(),
        "dropped noise": result.dropped_noise(),
        "dropped noise, attachments": result.dropped_noise("attachment"),
        "dropped noise, texts": result.dropped_noise("text"),
        "right reasons": result.right_reasons(),
    }


def main(words: Sequence[str]) -> int:
    return asyncio.run(run(words))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
