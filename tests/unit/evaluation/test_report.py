"""What is said beside the figures of an evaluation."""

from collections import Counter

from docmill_services.evaluation.collection_ids import NotFound
from docmill_services.evaluation.evaluating import Measured
from docmill_services.evaluation.judgements import Judgements
from docmill_services.evaluation.report import is_clean, notes_of, report_of

JUDGEMENTS = Judgements({"1": "apples", "2": "pears"}, {"1": {"a": 1}, "2": {"b": 0, "c": 3}}, ("3",), ("8", "9"))
WHOLE = Measured({"nDCG@10": 0.123456})


def notes(*not_found: NotFound, **measured: Measured) -> list[str]:
    return notes_of(Judgements(JUDGEMENTS.queries, JUDGEMENTS.grades, (), ()), not_found, 9, measured, 100, {"words": 100})


def test_nothing_is_said_where_nothing_is_to_be_known() -> None:
    assert notes(fused=WHOLE) == []
    assert is_clean((), {"fused": WHOLE})


def test_queries_that_are_left_out_are_said() -> None:
    assert notes_of(JUDGEMENTS, (), 3, {}, 100, {}) == [
        "3: 1 query has no relevant document: left out",
        "8, 9: 2 judged queries are not in the file of queries: left out",
    ]


def test_documents_that_no_search_can_find_are_said() -> None:
    missing = tuple(NotFound(str(number)) for number in range(1, 8))
    assert notes(*missing, fused=WHOLE) == ["1, 2, 3, 4, 5 and 2 more: 7 of 9 judged documents are not in the index"]
    assert not is_clean(missing, {"fused": WHOLE})


def test_an_empty_document_is_said_and_is_no_finding() -> None:
    assert notes(NotFound("995", "empty"), fused=WHOLE) == ["995: 1 judged document is empty"]
    assert is_clean((NotFound("995", "empty"),), {"fused": WHOLE})


def test_an_id_that_fits_several_documents_is_a_finding() -> None:
    unsure = NotFound("a", documents=("x/a.md", "y/a.md", "z/a.md"))
    assert notes(unsure, fused=WHOLE) == ["a: 1 judged id fits several documents, so none (x/a.md and y/a.md)"]
    assert not is_clean((unsure,), {"fused": WHOLE})


def test_searches_that_were_not_answered_whole_are_a_finding() -> None:
    without = Measured(WHOLE.measures, degraded=Counter({("words", "it is away"): 1}))
    assert notes(fused=without) == ["fused: 1 of 2 queries without words: it is away"]
    assert not is_clean((), {"fused": without})


def test_waiting_documents_are_a_finding() -> None:
    early = Measured(WHOLE.measures, pending=7)
    assert notes(words=early, fused=early) == ["7 documents wait or are in work: the figures may change"]
    assert not is_clean((), {"fused": early})


def test_strategies_that_give_less_than_the_depth_are_said() -> None:
    assert notes_of(Judgements({}, {}, (), ()), (), 3, {}, 100, {"words": 20, "vectors": 100}) == [
        "words: its `limit` is 20: what it would find after that counts as not found"
    ]


def test_the_report_has_a_row_for_each_way() -> None:
    report = report_of("kb", JUDGEMENTS, (NotFound("c"),), {"words": WHOLE}, WHOLE, None, 100, ["a note"])
    assert report["strategies"]["words"] == {"nDCG@10": 0.1235, "queries_without_results": 0, "degraded": []}
    assert (report["queries"], report["relevant"], report["reranked"]) == (2, 2, None)
    assert report["not_found"] == [{"id": "c", "state": "unknown", "documents": []}]
    assert (report["unjudged_queries"], report["unknown_queries"], report["notes"]) == (["3"], ["8", "9"], ["a note"])
