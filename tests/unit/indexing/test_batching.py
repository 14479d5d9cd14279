"""A batcher fills requests with the texts of many documents, and lets none of them pay for another."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from docmill.adapters.memory.models import hash_vector
from docmill.domain.chunks import Vector
from docmill.domain.errors import CallCancelled, ProviderPermanent, ProviderRateLimited, ProviderTransient, Superseded, TextRefused
from docmill.indexing.batching import Batcher
from support.held_model import FOR_EVER, HeldModel
from support.waiting import wait_until

DIMENSIONS = 8


class Documents:
    """Callers of a batcher, each in a thread of its own."""

    def __init__(self, batcher: Batcher) -> None:
        self._batcher = batcher
        self._pool = ThreadPoolExecutor(64)

    def embed(self, *texts: str, check: Callable[[], None] = lambda: None) -> "Future[list[Vector]]":
        return self._pool.submit(self._batcher.embed, texts, check)

    def close(self) -> None:
        self._pool.shutdown()


@pytest.fixture
def provider() -> HeldModel:
    return HeldModel()


@pytest.fixture
def make(provider: HeldModel) -> Iterator[Callable[..., Documents]]:
    made: list[tuple[Batcher, Documents]] = []

    def make(**settings: Any) -> Documents:
        batcher = Batcher(provider, **{"most_texts": 4, "most_senders": 1, "linger_seconds": FOR_EVER, **settings})
        made.append((batcher, Documents(batcher)))
        return made[-1][1]

    yield make
    provider.answer()
    for batcher, documents in made:
        batcher.stop()
        documents.close()
        assert batcher.join(10.0)


def vectors(*texts: str) -> list[Vector]:
    return [hash_vector(text, DIMENSIONS) for text in texts]


def test_texts_of_several_documents_share_a_request(provider: HeldModel, make: Callable[..., Documents]) -> None:
    documents = make()
    first, second = documents.embed("a", "b"), documents.embed("c", "d")
    assert (first.result(10), second.result(10)) == (vectors("a", "b"), vectors("c", "d"))
    assert [sorted(request) for request in provider.requests] == [["a", "b", "c", "d"]]


def test_a_text_that_nothing_joins_is_sent_after_a_little_while(provider: HeldModel, make: Callable[..., Documents]) -> None:
    assert make(linger_seconds=0.001).embed("a").result(10) == vectors("a")
    assert provider.requests == [["a"]]


def test_while_all_senders_are_busy_the_next_request_fills_up(provider: HeldModel, make: Callable[..., Documents]) -> None:
    provider.answer(0)
    documents = make(linger_seconds=0.0)
    waiting = [documents.embed("first")]
    wait_until(lambda: len(provider.requests) == 1, "the first request")
    waiting.append(documents.embed(*"abcdefgh"))
    provider.answer()
    for future in waiting:
        future.result(10)
    assert [len(request) for request in provider.requests] == [1, 4, 4]


def test_a_document_with_more_texts_than_a_request_holds_gets_several(provider: HeldModel, make: Callable[..., Documents]) -> None:
    texts = [str(number) for number in range(8)]
    assert make().embed(*texts).result(10) == vectors(*texts)
    assert [len(request) for request in provider.requests] == [4, 4]


def test_a_request_is_bounded_by_its_characters_and_one_text_may_have_more(provider: HeldModel, make: Callable[..., Documents]) -> None:
    documents = make(most_characters=10, linger_seconds=0.0)
    documents.embed("a" * 6, "b" * 6, "c" * 40, "d").result(10)
    assert [[len(text) for text in request] for request in provider.requests] == [[6], [6], [40], [1]]


def test_full_requests_are_sent_side_by_side_up_to_the_number_of_senders(provider: HeldModel, make: Callable[..., Documents]) -> None:
    provider.answer(0)
    documents = make(most_senders=3)
    waiting = [documents.embed(*(f"{document}/{text}" for text in range(4))) for document in range(5)]
    wait_until(lambda: len(provider.requests) == 3, "three requests at once")
    provider.answer(1)
    wait_until(lambda: len(provider.requests) == 4, "the next one")
    provider.answer()
    assert [len(future.result(10)) for future in waiting] == [4] * 5


def test_a_document_that_fails_waits_for_what_is_on_its_way_and_not_for_what_is_not(
    provider: HeldModel, make: Callable[..., Documents]
) -> None:
    failed, asks_still = threading.Event(), threading.Event()
    kept: dict[str, Vector] = {}

    def fail_first(texts: Sequence[str]) -> None:
        if list(texts) == provider.requests[0]:
            failed.set()
            raise ProviderTransient("down")

    def check() -> None:
        if failed.is_set():
            asks_still.set()

    provider.fails = fail_first
    provider.answer(0)
    documents = make(most_texts=1, most_senders=2, linger_seconds=0.0, keep=kept.__setitem__)
    future = documents.embed("a", "b", "c", check=check)
    wait_until(lambda: len(provider.requests) == 2, "two requests")
    provider.answer(1)
    assert asks_still.wait(10)
    provider.answer()
    assert isinstance(future.exception(10), ProviderTransient)
    [second] = provider.requests[1]
    assert second in kept


def test_what_a_call_has_made_before_it_failed_is_given_to_those_who_wait(provider: HeldModel, make: Callable[..., Documents]) -> None:
    def fail_half(texts: Sequence[str]) -> None:
        if len(texts) == 4:
            error = ProviderTransient("down")
            error.made = vectors(*texts[:2])
            raise error

    provider.fails = fail_half
    documents = make()
    first, second = documents.embed("a", "b"), documents.embed("c", "d")
    by_text = {text: future for future, texts in ((first, "ab"), (second, "cd")) for text in texts}
    wait_until(lambda: first.done() and second.done(), "both")
    [asked] = provider.requests
    assert by_text[asked[0]].result() == vectors(*asked[:2])
    assert isinstance(by_text[asked[2]].exception(), ProviderTransient)


def test_requests_that_wait_for_leave_are_not_joined_by_ever_more(provider: HeldModel, make: Callable[..., Documents]) -> None:
    now = [0.0]
    takes = iter([1.0, 100.0])  # the second one was not let through at once

    def take_long(texts: Sequence[str]) -> None:
        now[0] += next(takes)

    provider.fails = take_long
    documents = make(most_senders=32, monotonic=lambda: now[0])
    documents.embed(*"abcd").result(10)
    documents.embed(*"efgh").result(10)
    provider.fails = lambda texts: None
    provider.answer(2)
    waiting = [documents.embed(*(f"{document}/{text}" for text in range(4))) for document in range(10)]
    wait_until(lambda: len(provider.requests) == 5, "three requests at once")
    provider.answer()
    for future in waiting:
        future.result(10)
    assert [len(request) for request in provider.requests] == [4] * 12


def test_a_text_that_is_on_its_way_is_not_asked_for_again(provider: HeldModel, make: Callable[..., Documents]) -> None:
    provider.answer(0)
    documents = make(linger_seconds=0.0)
    first = documents.embed("a")
    wait_until(lambda: len(provider.requests) == 1, "the request")
    others = [documents.embed("a", "b") for _ in range(5)]
    provider.answer()
    assert first.result(10) == vectors("a")
    assert all(future.result(10) == vectors("a", "b") for future in others)
    assert provider.asked() == ["a", "b"]


def test_equal_texts_of_one_document_are_asked_for_once(provider: HeldModel, make: Callable[..., Documents]) -> None:
    assert make(linger_seconds=0.0).embed("a", "b", "a").result(10) == vectors("a", "b", "a")
    assert provider.asked() == ["a", "b"]
    assert make().embed().result(10) == []


@pytest.mark.parametrize("keeps", [True, False])
def test_a_refused_text_fails_only_the_documents_that_have_it(provider: HeldModel, make: Callable[..., Documents], keeps: bool) -> None:
    provider.keeps_what_it_has = keeps
    documents = make(most_texts=6)
    good = [documents.embed("a"), documents.embed("b", "c")]
    bad = documents.embed("fine", "poison")
    twice = documents.embed("poison too")
    assert good[0].result(10) == vectors("a")
    assert good[1].result(10) == vectors("b", "c")
    with pytest.raises(TextRefused, match="it refuses poison") as refused:
        bad.result(10)
    assert refused.value.place == 1
    with pytest.raises(TextRefused):
        twice.result(10)


def test_vectors_that_were_made_before_a_text_was_refused_are_not_paid_for_twice(
    provider: HeldModel, make: Callable[..., Documents]
) -> None:
    documents = make(most_texts=3)
    first = documents.embed("a", "poison", "c")
    with pytest.raises(TextRefused):
        first.result(10)
    wait_until(lambda: len(provider.requests) == 2, "the rest to be asked for")
    assert provider.requests[1] == ["c"]


@pytest.mark.parametrize("error", [ProviderRateLimited("later", 40.0), ProviderTransient("no answer"), ProviderPermanent("no such model")])
def test_any_other_error_reaches_every_document_of_its_request_and_no_others(
    provider: HeldModel, make: Callable[..., Documents], error: Exception
) -> None:
    def fail(texts: Sequence[str]) -> None:
        if "a" in texts:
            raise error

    provider.fails = fail
    documents = make(most_texts=2)
    waiting = [documents.embed("a"), documents.embed("b")]
    raised = [future.exception(10) for future in waiting]
    assert [(type(one), str(one), vars(one)) for one in raised] == [(type(error), str(error), vars(error))] * 2
    assert raised[0] is not raised[1]
    assert documents.embed("c", "d").result(10) == vectors("c", "d")


def test_a_model_that_loses_a_vector_is_noticed(provider: HeldModel, make: Callable[..., Documents]) -> None:
    class Short(HeldModel):
        def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
            return super().embed_passages(texts)[1:]

    batcher = Batcher(Short(), most_texts=2)
    with pytest.raises(ProviderPermanent, match="returned 1 vectors for 2 texts"):
        batcher.embed(["a", "b"])
    batcher.stop()
    assert batcher.join(10.0)


def test_a_caller_that_gives_up_harms_nobody_and_its_texts_are_not_sent(provider: HeldModel, make: Callable[..., Documents]) -> None:
    provider.answer(0)
    documents = make(most_texts=2)
    full = documents.embed("a", "b")
    wait_until(lambda: len(provider.requests) == 1, "the first request")
    lost = threading.Event()

    def check() -> None:
        if lost.is_set():
            raise Superseded("the lease ran out")

    leaving, staying = documents.embed("c", "d", check=check), documents.embed("d")
    lost.set()
    with pytest.raises(Superseded):
        leaving.result(10)
    other = documents.embed("e")
    provider.answer()
    assert (full.result(10), staying.result(10), other.result(10)) == (vectors("a", "b"), vectors("d"), vectors("e"))
    assert provider.asked() == ["a", "b", "d", "e"]


def test_a_stop_ends_all_waiting_at_once_also_while_a_request_hangs(provider: HeldModel) -> None:
    provider.answer(0)
    batcher = Batcher(provider, most_texts=1, most_senders=1)
    documents = Documents(batcher)
    waiting = [documents.embed("sent"), documents.embed("waits")]
    wait_until(lambda: len(provider.requests) == 1, "the request")
    batcher.stop()
    for future in waiting:
        with pytest.raises(CallCancelled):
            future.result(10)
    with pytest.raises(CallCancelled):
        batcher.embed(["later"])
    assert not batcher.join(0.0)
    provider.answer()
    assert batcher.join(10.0)
    assert provider.asked() == ["sent"]
    documents.close()


def test_many_documents_at_once_all_get_their_vectors(provider: HeldModel, make: Callable[..., Documents]) -> None:
    documents = make(most_texts=16, most_senders=4, linger_seconds=0.001)
    texts = [[f"text {number * 7 % 500}", f"text {number}"] for number in range(500)]
    waiting = [documents.embed(*of_document) for of_document in texts]
    for of_document, future in zip(texts, waiting, strict=True):
        assert future.result(30) == vectors(*of_document)


def test_a_refusal_of_a_text_that_was_not_asked_for_fails_its_request_and_no_later_one(
    provider: HeldModel, make: Callable[..., Documents]
) -> None:
    refusals = [TextRefused("it refuses something", 7)]

    def refuse(texts: Sequence[str]) -> None:
        if refusals:
            raise refusals.pop()

    provider.fails = refuse
    documents = make(most_texts=2)
    with pytest.raises(IndexError):
        documents.embed("a", "b").result(10)
    assert documents.embed("a", "b").result(10) == vectors("a", "b")


def test_a_text_for_which_the_system_gives_no_thread_fails_and_a_later_one_gets_one(
    provider: HeldModel, make: Callable[..., Documents], monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = make(linger_seconds=0.0)
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("docmill-embed"):
            raise RuntimeError("can't start new thread")
        start(thread)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            documents.embed("a").result(10)
    assert documents.embed("b").result(10) == vectors("b")
    assert provider.requests == [["b"]]


def test_texts_that_are_kept_elsewhere_are_not_asked_for_and_looked_for_once_a_request(
    provider: HeldModel, make: Callable[..., Documents]
) -> None:
    looked_for: list[list[str]] = []

    def take_kept(texts: Sequence[str]) -> dict[str, Vector]:
        looked_for.append(sorted(texts))
        return {text: [9.0] * DIMENSIONS for text in texts if text.startswith("kept")}

    documents = make(take_kept=take_kept)
    first, second = documents.embed("a", "kept 1"), documents.embed("kept 2", "b")
    assert first.result(10) == [*vectors("a"), [9.0] * DIMENSIONS]
    assert second.result(10) == [[9.0] * DIMENSIONS, *vectors("b")]
    assert looked_for == [["a", "b", "kept 1", "kept 2"]]
    assert [sorted(request) for request in provider.requests] == [["a", "b"]]


def test_a_document_need_not_wait_and_is_told_once_when_all_is_there(provider: HeldModel) -> None:
    told: list[None] = []
    provider.answer(0)
    batcher = Batcher(provider, most_texts=2, most_senders=2)
    call = batcher.ask(["a", "b", "c", "d"], lambda: told.append(None))
    wait_until(lambda: len(provider.requests) == 2, "both requests")
    provider.answer(1)
    assert not told
    provider.answer()
    wait_until(lambda: bool(told), "the end")
    assert call.vectors() == vectors("a", "b", "c", "d")
    batcher.stop()
    assert batcher.join(10.0)
    assert len(told) == 1


def test_a_stop_tells_those_who_do_not_wait(provider: HeldModel) -> None:
    told = threading.Event()
    provider.answer(0)
    batcher = Batcher(provider, most_texts=1, most_senders=1)
    call = batcher.ask(["sent", "waits"], told.set)
    wait_until(lambda: len(provider.requests) == 1, "the request")
    batcher.stop()
    assert told.is_set()
    with pytest.raises(CallCancelled):
        call.vectors()
    provider.answer()
    assert batcher.join(10.0)
