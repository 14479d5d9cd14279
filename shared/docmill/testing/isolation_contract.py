"""Contract of the ``Isolation`` port.

An adapter passes by one subclass that overrides one fixture::

    class TestMyIsolation(IsolationContract):
        @pytest.fixture
        def isolation(self):
            yield MyIsolation(...)
"""

# ruff: noqa: D102 - the name of a test is its description

from collections.abc import Iterator

import pytest

from docmill.chunking import chunk
from docmill.documents.loading import load
from docmill.domain.errors import DocumentSkipped, SkipReason, Superseded
from docmill.domain.knowledge_bases import Chunking, ChunkingStrategy
from docmill.ports.isolation import Crashed, Isolation

#: A content that ends the process that loads it.
KILLER = b"this content ends its process"
MARKDOWN = "---\ntags: [one, two]\nyear: 2027\ndraft: false\n---\n# Über\n\nFirst.\n\n## Zwei\n\nSecond \U0001f600.\n".encode()


def nothing() -> None:
    """A check that finds nothing."""


def a_minute() -> float:
    """How long a document may take here."""
    return 60.0


class IsolationContract:
    """Every rule, each a test. In what is tested, loading ``KILLER`` must end the process."""

    @pytest.fixture
    def isolation(self) -> Iterator[Isolation]:
        """What is tested."""
        raise NotImplementedError

    @pytest.mark.parametrize(("document_id", "content"), [("a.md", MARKDOWN), ("a.py", b"def f():\n    return 1\n"), ("empty.txt", b"")])
    def test_a_document_is_loaded_and_cut_as_in_this_process(self, isolation: Isolation, document_id: str, content: bytes) -> None:
        here = load(document_id, content)
        with isolation.alone(nothing, a_minute, fresh=False) as alone:
            document = alone.load(document_id, content)
            assert document == here
            for chunking in (Chunking(), Chunking(20, 0, code_aware=True), Chunking(20, 0, strategy=ChunkingStrategy.TEXT)):
                assert alone.chunk(document, chunking) == chunk(here, chunking)

    def test_a_large_document_comes_through_whole(self, isolation: Isolation) -> None:
        content = b"word " * 600_000
        with isolation.alone(nothing, a_minute, fresh=False) as alone:
            assert alone.load("a.txt", content) == load("a.txt", content)

    def test_what_cannot_be_loaded_is_skipped_with_its_reason(self, isolation: Isolation) -> None:
        with isolation.alone(nothing, a_minute, fresh=False) as alone:
            with pytest.raises(DocumentSkipped) as skipped:
                alone.load("a.txt", b"\x89PNG\r\n\x1a\n")
            assert skipped.value.reason is SkipReason.BINARY
            assert alone.load("a.txt", b"text").text == "text"

    def test_a_document_that_ends_its_process_has_crashed_and_harms_no_other(self, isolation: Isolation) -> None:
        with pytest.raises(Crashed, match="SIGKILL"), isolation.alone(nothing, a_minute, fresh=True) as alone:
            alone.load("a.txt", KILLER)
        with isolation.alone(nothing, a_minute, fresh=False) as alone:
            assert alone.load("a.txt", b"text").text == "text"

    def test_a_document_that_is_not_done_in_time_has_crashed(self, isolation: Isolation) -> None:
        with pytest.raises(Crashed, match="not done"), isolation.alone(nothing, lambda: 0.0, fresh=False) as alone:
            alone.load("a.txt", b"text")

    def test_what_the_check_raises_passes_through_and_is_no_crash(self, isolation: Isolation) -> None:
        lost: list[str] = []

        def check() -> None:
            if lost:
                raise Superseded("the lease ran out")

        with isolation.alone(check, a_minute, fresh=False) as alone:
            lost.append("the lease")
            with pytest.raises(Superseded):
                alone.load("a.txt", b"text")
        with isolation.alone(nothing, a_minute, fresh=False) as alone:
            assert alone.load("a.txt", b"text").text == "text"
