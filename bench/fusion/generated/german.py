"""German notes whose subject is a compound or the same words apart, and questions with the other form."""

from __future__ import annotations

import random
from itertools import product

from bench.fusion.question_sets import QuestionSet

QUESTIONS = 48

FIRST = {
    "Wartung": "Wartungs",
    "Versicherung": "Versicherungs",
    "Lieferung": "Lieferungs",
    "Reparatur": "Reparatur",
    "Reise": "Reise",
    "Energie": "Energie",
    "Qualität": "Qualitäts",
    "Sicherheit": "Sicherheits",
    "Werkstatt": "Werkstatt",
    "Ausbildung": "Ausbildungs",
    "Heizung": "Heizungs",
    "Produktion": "Produktions",
}
"""Words, and the form they have as the first part of a compound."""

SECOND = {
    "Vertrag": ("der", "ein Vertrag über die {}"),
    "Bericht": ("der", "ein Bericht über die {}"),
    "Plan": ("der", "ein Plan für die {}"),
    "Antrag": ("der", "ein Antrag wegen der {}"),
    "Rechnung": ("die", "eine Rechnung für die {}"),
    "Prüfung": ("die", "eine Prüfung der {}"),
    "Leitung": ("die", "eine Leitung für die {}"),
    "Übersicht": ("die", "eine Übersicht der {}"),
    "Protokoll": ("das", "ein Protokoll der {}"),
    "Konzept": ("das", "ein Konzept für die {}"),
    "Budget": ("das", "ein Budget für die {}"),
    "Archiv": ("das", "ein Archiv der {}"),
}
"""Words, their article, and the same subject with the two words apart."""

TELLING = [
    "Nach langer Beratung liegt {} vor und wurde von der Geschäftsführung unterschrieben.",
    "In der Sitzung am Montag wurde besprochen, dass {} bis zum Herbst fertig sein muss.",
    "Frau Albers hat mitgeteilt, dass {} im Schrank neben dem Fenster zu finden ist.",
    "Der Einkauf fragt, ob {} schon bezahlt oder noch offen ist.",
]
PASSING = [
    "Unabhängig davon ging es kurz um die {}, ohne Ergebnis.",
    "Zur {} gab es keine neuen Angaben.",
    "Über die {} wird beim nächsten Mal gesprochen.",
]
CLOSING = [
    "Weitere Fragen beantwortet das Sekretariat, das im zweiten Stock zu finden ist.",
    "Die nächste Besprechung ist in zwei Wochen und wird von der Leiterin geführt.",
    "Alle Beteiligten haben auch eine Kopie mit der Post erhalten.",
]
ASKING_TOGETHER = [
    "Wo finde ich {}?",
    "Wer hat {} unterschrieben?",
    "Bis wann muss {} fertig sein?",
    "Ist {} schon bezahlt?",
]
ASKING_APART = [
    "Gibt es {}?",
    "Wurde schon besprochen, ob {} fertig ist?",
    "Wer weiß, wo {} liegt?",
    "Ist {} noch offen?",
]


def german() -> QuestionSet:
    """Two of three questions use the form that their document does not have."""
    chosen = random.Random(48)
    pairs = list(product(FIRST, SECOND))
    chosen.shuffle(pairs)
    documents: dict[str, str] = {}
    questions: list[tuple[str, frozenset[str]]] = []
    for number, (first, second) in enumerate(pairs):
        name, is_together = f"notiz-{number:03}.md", number % 2 == 0
        documents[name] = _note(number, first, second, is_together, chosen)
        if number % 3 == 0:
            asks_together = is_together if len(questions) % 3 == 2 else not is_together
            questions.append((_question(first, second, asks_together, chosen), frozenset({name})))
    return QuestionSet("German compounds", documents, questions[:QUESTIONS], "de")


def _note(number: int, first: str, second: str, is_together: bool, chosen: random.Random) -> str:
    article = SECOND[second][0]
    subject = f"{article} {_compound(first, second)}" if is_together else _apart(first, second)
    passing = chosen.choice([each for each in FIRST if each != first])
    parts = [
        chosen.choice(TELLING).format(subject),
        chosen.choice(PASSING).format(passing),
        chosen.choice(CLOSING),
    ]
    return f"# Notiz {number + 1}\n\n" + " ".join(parts)


def _question(first: str, second: str, asks_together: bool, chosen: random.Random) -> str:
    if not asks_together:
        return chosen.choice(ASKING_APART).format(_apart(first, second))
    article = SECOND[second][0]
    asked = chosen.choice(ASKING_TOGETHER)
    if article == "der" and asked.startswith(("Wo", "Wer")):
        article = "den"
    return asked.format(f"{article} {_compound(first, second)}")


def _compound(first: str, second: str) -> str:
    return FIRST[first] + second.lower()


def _apart(first: str, second: str) -> str:
    return SECOND[second][1].format(first)
