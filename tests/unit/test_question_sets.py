"""The question sets that are made by code: their answers exist, and other documents resemble them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest

from bench.fusion.__main__ import SETS
from bench.fusion.generated.codes import codes
from bench.fusion.generated.german import FIRST, german
from bench.fusion.generated.misspelt import misspelt
from bench.fusion.generated.spanish import spanish
from bench.fusion.question_sets import QuestionSet
from penstock.pipeline.parse.language import guess

GENERATED = [codes, misspelt, german, spanish]
made = pytest.mark.parametrize("make", GENERATED)
WORD = re.compile(r"[^\W\d_]{5,}")


def words(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)}


def fragments(text: str) -> set[str]:
    """Every five letters in a row: parts of compounds and words in another form have them in common."""
    return {word[place : place + 5] for word in words(text) for place in range(len(word) - 4)}


def test_every_set_is_measured() -> None:
    assert set(GENERATED) < set(SETS.values())


@made
def test_a_generated_set_is_small_and_each_question_has_its_answers(make: Callable[[], QuestionSet]) -> None:
    questions = make()
    assert 100 <= len(questions.documents) <= 300
    assert len(set(questions.documents.values())) == len(questions.documents)
    assert 20 <= len(questions.questions) <= 60
    assert len({text for text, _ in questions.questions}) == len(questions.questions)
    for text, right in questions.questions:
        assert text.strip()
        assert right
        assert right <= questions.documents.keys()


@made
def test_a_generated_set_is_the_same_every_time(make: Callable[[], QuestionSet]) -> None:
    assert make() == make()


@made
def test_documents_are_in_the_language_of_their_set(make: Callable[[], QuestionSet]) -> None:
    questions = make()
    found = Counter(guess(text) for text in questions.documents.values())
    assert found == {questions.language: len(questions.documents)}


@pytest.mark.parametrize("make", [misspelt, german, spanish])
def test_every_question_shares_words_with_documents_that_do_not_answer_it(
    make: Callable[[], QuestionSet],
) -> None:
    questions = make()
    vocabulary = {name: fragments(text) for name, text in questions.documents.items()}
    for text, right in questions.questions:
        others = [name for name, known in vocabulary.items() if known & fragments(text) and name not in right]
        assert len(others) >= 3, text


def test_the_answers_about_a_code_are_the_letters_that_contain_it_whole() -> None:
    questions = codes()
    five_digits = 0
    for text, right in questions.questions:
        (code,) = (word for word in text.rstrip("?").split() if any(letter.isdigit() for letter in word))
        whole = re.compile(rf"(?<!\w){re.escape(code)}(?!\w)")
        assert {name for name, letter in questions.documents.items() if whole.search(letter)} == right
        five_digits += bool(re.fullmatch(r"\d{5}", code))
        alike = {name for name, letter in questions.documents.items() if code[:-1] in letter}
        assert alike > right, code
    assert five_digits >= 3


def test_every_question_of_the_misspelt_has_a_word_that_no_document_has() -> None:
    questions = misspelt()
    known = set(re.findall(r"[a-z]+", " ".join(questions.documents.values()).lower()))
    right = {word for text, _ in _spelt_right() for word in text.lower().split()}
    for text, _ in questions.questions:
        assert any(word not in known | right for word in text.lower().split()), text


def _spelt_right() -> list[tuple[str, frozenset[str]]]:
    from bench.fusion.generated.misspelt import QUESTIONS, REPORTS

    return REPORTS.question_set("", "en", questions=QUESTIONS, seed=52).questions


def test_most_german_questions_have_the_form_that_their_document_does_not_have() -> None:
    questions = german()
    compounds = tuple(first.lower() for first in FIRST)
    other = 0
    for text, right in questions.questions:
        (name,) = right
        first = next(word for word in words(text) if word.startswith(compounds))
        other += first not in words(questions.documents[name])
    assert other >= len(questions.questions) / 2
