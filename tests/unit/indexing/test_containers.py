"""Containers are loaded in another process, and one that ends that costs only itself."""

import pytest

from docmill.adapters.memory.clock import ManualClock
from docmill.adapters.memory.isolation import MemoryIsolation
from docmill.chunking import chunk
from docmill.documents.loading import load
from docmill.domain.documents import LoadedDocument
from docmill.domain.errors import DocumentSkipped, SkipReason, Superseded
from docmill.domain.registry import DocumentState
from docmill.indexing.containers import ContainerLoading
from support.indexing_world import DictSource, World
from support.made_archives import paragraph, word

DOCX = word(paragraph("text"))


class Ends:
    """How processes end that load the container: so many times; ``seconds`` pass before."""

    def __init__(self, times: int, seconds: float = 0.0) -> None:
        self.clock = ManualClock()
        self.left = times
        self._seconds = seconds
        self.isolation = MemoryIsolation(load, chunk, self._end)
        self.loading = ContainerLoading(self.isolation, self.clock)

    def _end(self, content: bytes) -> str | None:
        self.clock.sleep(self._seconds)
        self.left -= 1
        return "it was ended by SIGSEGV" if self.left >= 0 else None


def test_a_container_is_loaded_in_another_process_and_a_text_here() -> None:
    world = Ends(0)
    assert world.loading.load("a.docx", DOCX).text == "text\n"
    assert world.isolation.fresh == [False]
    assert world.loading.load("a.md", b"# Text").text == "# Text"
    assert world.isolation.fresh == [False]


def test_a_process_that_ends_soon_is_given_the_benefit_of_the_doubt_once() -> None:
    world = Ends(1)
    assert world.loading.load("a.docx", DOCX).text == "text\n"
    assert world.isolation.fresh == [False, True]


def test_a_container_that_ends_a_fresh_process_too_is_skipped_with_how_it_ended() -> None:
    world = Ends(9)
    with pytest.raises(DocumentSkipped, match="ended by SIGSEGV") as skipped:
        world.loading.load("a.docx", DOCX)
    assert skipped.value.reason is SkipReason.PARSER_FAILED
    assert world.isolation.fresh == [False, True]


def test_a_container_that_took_long_is_not_tried_again() -> None:
    world = Ends(9, seconds=60.0)
    with pytest.raises(DocumentSkipped):
        world.loading.load("a.docx", DOCX)
    assert world.isolation.fresh == [False]


def test_what_the_check_raises_passes_through() -> None:
    def check() -> None:
        raise Superseded("the lease ran out")

    world = Ends(0)
    with pytest.raises(Superseded):
        world.loading.load("a.docx", DOCX, check)


class UnreadableSource(DictSource):
    """A source whose loader needs a package that is not there, or finds binary data."""

    reason = SkipReason.NOT_INSTALLED

    def load(self, document_id: str, content: bytes) -> LoadedDocument:
        raise DocumentSkipped(self.reason, "as it is here")


@pytest.mark.parametrize(("reason", "stat"), [(SkipReason.NOT_INSTALLED, ""), (SkipReason.BINARY, "v1")])
def test_what_is_skipped_for_want_of_a_package_is_looked_at_again_by_every_run(reason: SkipReason, stat: str) -> None:
    world = World()
    world.source = UnreadableSource()
    world.source.reason = reason
    world.source.put("a.pdf", "text")
    world.enqueue("a.pdf")
    world.work()
    entry = world.entry("a.pdf")
    assert entry is not None
    assert (entry.state, entry.stat) == (DocumentState.SKIPPED, stat)


def test_a_document_that_is_a_container_is_worked_on_here_but_loaded_elsewhere() -> None:
    world = World()
    world.source.files["a.docx"], world.source.versions["a.docx"] = DOCX, 1
    world.isolation = MemoryIsolation(load, chunk)
    world.enqueue("a.docx")
    world.work()
    assert world.isolation.fresh == [False]
    assert world.live_texts("a.docx")["words"] == ["text"]
