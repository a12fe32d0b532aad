"""English reports of a power station, and questions with misspelt words."""

from __future__ import annotations

import random
import re
from string import ascii_lowercase

from bench.fusion.generated.crossing import Crossing, Matter, Subject
from bench.fusion.question_sets import QuestionSet

QUESTIONS = 48
LEAST_LETTERS = 6
"""Shorter words are not misspelt: a letter more or less makes another word of them."""

REPORTS = Crossing(
    subjects=[
        Subject("the transformer", "the transformer"),
        Subject("the main generator", "the generator"),
        Subject("the hydraulic governor", "the governor"),
        Subject("the intake screen", "the intake screen"),
        Subject("the spillway gate", "the spillway"),
        Subject("the cooling circuit", "the cooling circuit"),
        Subject("the overhead crane", "the crane"),
        Subject("the drainage pump", "the drainage pump"),
        Subject("the emergency battery", "the emergency battery"),
        Subject("the control cabinet", "the control cabinet"),
        Subject("the excitation system", "the excitation"),
        Subject("the fish passage", "the fish passage"),
    ],
    matters=[
        Matter(
            "{} showed a vibration that grew with the load, and the bearings were aligned again.",
            "the vibration was within its limits",
            "why did {} have a vibration under load",
        ),
        Matter(
            "corrosion was found on {}, and the affected sheets were sanded and painted.",
            "no corrosion was seen",
            "where was corrosion found on {}",
        ),
        Matter(
            "the insulation of {} was measured twice because the first resistance was too low.",
            "the insulation was not measured",
            "which resistance did the insulation of {} have",
        ),
        Matter(
            "a contractor replaced the gasket of {} after oil had leaked on the floor.",
            "the gasket stays for another season",
            "who replaced the leaking gasket of {}",
        ),
        Matter(
            "the temperature of {} rose above the alarm threshold during the afternoon.",
            "the temperature was normal",
            "when did the temperature of {} exceed the threshold",
        ),
        Matter(
            "the inspection of {} was postponed until the authority had granted its permission.",
            "the inspection is planned for autumn",
            "why was the inspection of {} postponed",
        ),
        Matter(
            "the calibration of the sensors at {} had expired, so a technician renewed the certificate.",
            "the calibration is valid",
            "is the calibration certificate of {} expired",
        ),
        Matter(
            "sediment had collected around {}, and divers removed eleven cubic metres of it.",
            "little sediment was left",
            "how much sediment did divers remove at {}",
        ),
        Matter(
            "the warranty of {} was extended by two years, at the expense of the manufacturer.",
            "the warranty had ended",
            "until when did the manufacturer extend the warranty of {}",
        ),
        Matter(
            "lightning struck close to {}, and the surge arrester had to be exchanged.",
            "there was no lightning in that week",
            "what did lightning destroy at {}",
        ),
        Matter(
            "an apprentice was injured at {}, and the railing has been lengthened since.",
            "nobody was injured",
            "was somebody injured at {}",
        ),
        Matter(
            "the spare parts of {} are stored in the basement, on the shelf beside the staircase.",
            "spare parts were ordered",
            "where are spare parts of {} stored",
        ),
    ],
    places=[
        "at the upper dam",
        "in the powerhouse",
        "at Cedar mill",
        "at the lower weir",
        "on the east bank",
    ],
    frames=[
        (
            "# Report of week {number}\n\nThis note was written {place}. {told} Beside it, {mentioned} "
            "at {other}, and the shift was handed over without remarks."
        ),
        (
            "# Minutes, page {number}\n\nThe meeting took place {place} and began late. About {other} "
            "it was said that {mentioned}. {told} The next meeting has the same agenda."
        ),
        (
            "# Logbook {number}\n\nWeather: rain. {told} In contrast, {mentioned} at {other}; {again}, "
            "as the crew {place} confirmed by telephone."
        ),
    ],
)


def misspelt() -> QuestionSet:
    """Every question has one misspelt word, every third has two; none of them is a word of a document."""
    asked = REPORTS.question_set("misspelt words", "en", questions=QUESTIONS, seed=52)
    known = set(re.findall(r"[a-z]+", " ".join(asked.documents.values()).lower()))
    chosen = random.Random(53)
    questions = [
        (_misspell(text, 2 if number % 3 == 0 else 1, known, chosen), right)
        for number, (text, right) in enumerate(asked.questions)
    ]
    return QuestionSet(asked.name, asked.documents, questions, asked.language)


def _misspell(text: str, count: int, known: set[str], chosen: random.Random) -> str:
    words = text.split()
    long = [place for place, word in enumerate(words) if len(word) >= LEAST_LETTERS and word in known]
    for place in chosen.sample(long, min(count, len(long))):
        wrong = words[place]
        while wrong in known:
            wrong = _one_edit(words[place], chosen)
        words[place] = wrong
    return " ".join(words)


def _one_edit(word: str, chosen: random.Random) -> str:
    """A letter left out, doubled, replaced, or swapped with the next one; the first stays."""
    place = chosen.randrange(1, len(word) - 1)
    before, letter, after = word[:place], word[place], word[place + 1 :]
    edits = (
        before + after,
        before + letter + letter + after,
        before + chosen.choice(ascii_lowercase) + after,
        before + after[0] + letter + after[1:],
    )
    return chosen.choice(edits)
