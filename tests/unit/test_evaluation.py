"""What the measures of an evaluation say, and which question files are refused."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest

from penstock.errors import InvalidArgument
from penstock.search import SearchAnswer, SearchHit
from penstock.search.answer import Snippet
from penstock.search.evaluation import (
    Ask,
    Evaluation,
    Judged,
    Question,
    compared,
    judge,
    judge_sides,
    question_lines,
    read_questions,
)


def hit(path: str, document_id: UUID | None = None) -> SearchHit:
    required = (name for name, field in SearchHit.model_fields.items() if field.is_required())
    given = {
        "kind": "chunk",
        "score": 1.0,
        "document_id": document_id or uuid4(),
        "project_id": uuid4(),
        "filename": path.rpartition("/")[2],
        "path": path,
        "heading_path": (),
        "text": "",
        "snippet": Snippet(text=""),
    }
    return SearchHit.model_validate({**dict.fromkeys(required), **given})


def answering(*hits: SearchHit) -> Ask:
    async def ask(text: str) -> SearchAnswer:
        return SearchAnswer(hits=hits, took_ms=3.0, models=())

    return ask


async def measures(question: Question, *hits: SearchHit) -> tuple[float, float, float]:
    judged = await judge(answering(*hits), question)
    return round(judged.ndcg, 4), round(judged.recall, 4), round(judged.reciprocal_rank, 4)


async def judged_by(asks: Sequence[Ask], questions: Sequence[Question]) -> tuple[Judged, ...]:
    return tuple([await judge(ask, each) for ask, each in zip(asks, questions, strict=True)])


async def test_the_place_of_the_right_document_decides() -> None:
    right, other, third = hit("reports/gate.pdf"), hit("a.pdf"), hit("b.pdf")
    question = Question("who repaired the gate?", ("gate.pdf",))
    assert await measures(question, right, other) == (1.0, 1.0, 1.0)
    assert await measures(question, other, right) == (0.6309, 1.0, 0.5)
    assert await measures(question, other, third) == (0.0, 0.0, 0.0)
    assert await measures(question) == (0.0, 0.0, 0.0)


async def test_a_document_counts_once_and_by_its_best_passage() -> None:
    same = uuid4()
    twice = (hit("a.pdf", same), hit("a.pdf", same), hit("b.pdf"))
    assert await measures(Question("?", ("b.pdf",)), *twice) == (0.6309, 1.0, 0.5)
    assert await measures(Question("?", ("a.pdf", "b.pdf")), *twice) == (1.0, 1.0, 1.0)
    assert await measures(Question("?", ("a.pdf", "c.pdf")), *twice) == (0.6131, 0.5, 1.0)


async def test_a_document_is_known_by_id_path_end_of_path_or_name() -> None:
    found = hit("/srv/files/reports/gate.pdf")
    for name in (str(found.document_id), "/srv/files/reports/gate.pdf", "reports/gate.pdf", "gate.pdf"):
        assert (await measures(Question("?", (name,)), found))[0] == 1.0, name
    for name in ("ate.pdf", "reports/", "gate"):
        assert (await measures(Question("?", (name,)), found))[0] == 0.0, name


async def test_the_most_specific_name_takes_a_document_and_leaves_the_others_to_the_rest() -> None:
    inner, outer = hit("reports/gate.pdf"), hit("gate.pdf")
    for names in (("gate.pdf", "reports/gate.pdf"), ("reports/gate.pdf", "gate.pdf")):
        question = Question("?", names)
        assert await measures(question, inner, outer) == (1.0, 1.0, 1.0)
        assert await measures(question, outer, inner) == (1.0, 1.0, 1.0)
        assert await measures(question, inner, hit("plans/gate.pdf")) == (1.0, 1.0, 1.0)
        assert await measures(question, inner) == (0.6131, 0.5, 1.0), "the other one is missing"


async def test_two_names_of_one_document_are_one_document() -> None:
    found = hit("/srv/reports/gate.pdf")
    by_id = str(found.document_id)
    for names in ((by_id, "/srv/reports/gate.pdf"), (by_id, "gate.pdf"), ("reports/gate.pdf", by_id)):
        assert await measures(Question("?", names), found, hit("a.pdf")) == (1.0, 1.0, 1.0), names
        assert await measures(Question("?", (*names, "b.pdf")), found) == (0.6131, 0.5, 1.0), names
    # Where it is known that they are one, it is one before it is found, too.
    known = {"reports/gate.pdf": found.document_id, "gate.pdf": found.document_id}
    question = Question("?", ("gate.pdf", "reports/gate.pdf", "a.pdf"))
    judged = await judge(answering(hit("a.pdf")), question, known)
    assert judged.recall == 0.5
    assert judged.ndcg == pytest.approx(0.6131, abs=1e-4)
    assert (await judge(answering(found, hit("a.pdf")), question, known)).recall == 1.0


async def test_recall_is_the_share_of_all_right_documents() -> None:
    names = tuple(f"{place}.pdf" for place in range(20))
    assert await measures(Question("?", names), *map(hit, names)) == (1.0, 0.5, 1.0)


async def test_sides_take_turns_in_asking_first() -> None:
    asked: list[tuple[str, str]] = []

    def side(name: str) -> Ask:
        async def ask(text: str) -> SearchAnswer:
            asked.append((text, name))
            return SearchAnswer(hits=(hit(f"{name}.pdf"),), took_ms=1.0, models=())

        return ask

    questions = [Question(text, ("one.pdf",)) for text in "abc"]
    done: list[int] = []
    one, other = await judge_sides([side("one"), side("other")], questions, done=done.append)
    warm, measured = asked[:2], asked[2:]
    assert warm == [("a", "one"), ("a", "other")], "once each, not measured"
    assert measured == [
        ("a", "one"),
        ("a", "other"),
        ("b", "other"),
        ("b", "one"),
        ("c", "one"),
        ("c", "other"),
    ]
    assert done == [1, 2, 3, 4, 5, 6]
    assert [(each.question.text, each.recall) for each in one] == [("a", 1), ("b", 1), ("c", 1)]
    assert [each.recall for each in other] == [0, 0, 0]


async def test_questions_that_got_worse_come_first() -> None:
    right, other = hit("gate.pdf"), hit("a.pdf")
    questions = [Question(text, ("gate.pdf",)) for text in ("same", "worse", "better")]
    before = [answering(right), answering(right), answering(other, right)]
    after = [answering(right), answering(other, right), answering(right)]
    first = Evaluation("before", await judged_by(before, questions))
    second = Evaluation("after", await judged_by(after, questions))
    assert [pair[1].question.text for pair in compared(first, second)] == ["worse", "better"]
    assert (first.ndcg, second.ndcg) == (0.877, 0.877)
    assert (first.mrr, first.recall, first.p95_ms) == (0.8333, 1.0, 3.0)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "no questions"),
        ("{", "line 1 is not JSON"),
        ("[" * 100_000, "line 1 is not JSON"),
        ("[]", "line 1 is not an object"),
        ('{"documents": ["a"]}', "line 1: question"),
        ('{"question": "a"}', "line 1: documents"),
        ('{"question": "a", "documents": []}', "line 1: documents"),
        ('{"question": "a", "documents": [7]}', "line 1: documents"),
        ("x" * (1 << 19), "line 1 is longer"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line_and_field(line: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        read_questions([line])


def test_blank_lines_are_skipped_and_one_document_needs_no_list() -> None:
    read = read_questions(["", '{"question": " who? ", "documents": "a.pdf"}', " "])
    assert read == [Question("who?", ("a.pdf",))]


def test_a_file_may_begin_with_a_byte_order_mark_and_contain_line_ends_of_unicode() -> None:
    lines = question_lines(
        '\ufeff{"question": "a\u2028b", "documents": "a"}\r\n{"question": "c", "documents": "d"}'
    )
    assert read_questions(lines) == [Question("a\u2028b", ("a",)), Question("c", ("d",))]


def test_no_time_is_said_to_be_longer_than_the_slowest_search() -> None:
    question = Question("?", ("a",))
    judged = tuple(Judged(question, 1.0, 1.0, 1.0, took, ()) for took in (2.0, 3.0, 90.0))
    assert Evaluation("two", judged[:2]).p95_ms <= 3.0
    assert Evaluation("three", judged).p95_ms <= 90.0
