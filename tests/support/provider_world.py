"""Knowledge bases on a fake provider: their configuration, keys, documents and processes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from support.fake_provider import FakeProvider
from support.fake_provider_log import Seen
from support.fleet import Fleet, running_fleet
from support.fleet_api import part_text, word_of
from support.running_docmill import RunningDocmill

KEY_VARIABLE: Final = "MY_KEY"
DIMENSIONS: Final = 16
#: A run that waits for a provider may take so long on a busy machine.
RUN_SECONDS: Final = 120.0


def made_key(owner: str) -> str:
    """A key as providers make them, another one for each ``owner``; of no worth anywhere."""
    return f"sk-test-{owner}-" + "".join(f"{ord(letter):02x}" for letter in owner[:8]).ljust(24, "0")


@dataclass(frozen=True)
class Base:
    """A knowledge base of the configuration.

    Attributes:
        docs: its folder.
        key_variable: the environment variable with the key of its model.
        embedding: more keys of its strategy with vectors.
        model: more keys of its model's entry.
        more: more keys of its own.
    """

    docs: Path
    key_variable: str = KEY_VARIABLE
    embedding: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


def write_provider_configuration(path: Path, provider: FakeProvider, bases: Mapping[str, Base]) -> Path:
    """A configuration in which each knowledge base has vectors of the provider, and words; returns ``path``."""
    models, rag = {}, {}
    for name, base in bases.items():
        models[f"embedder_of_{name}"] = {
            "provider": "openai",
            "model": "text-embedding-3-small",
            "base_url": provider.base_url,
            "token_key": base.key_variable,
            **base.model,
        }
        chunking = {"size": 300, "overlap": 0}
        vectors = {
            "type": "chunked-embeddings",
            "embedding_model": f"embedder_of_{name}",
            "vector_dimensions": DIMENSIONS,
            "threshold": 0.0,
            "limit": 50,
            "chunking": chunking,
            **base.embedding,
        }
        words = {"type": "bm25", "limit": 50, "chunking": chunking}
        rag[name] = {"docs": [str(base.docs)], "strategies": [vectors, words], "results": {"limit": 50}, **base.more}
    path.write_text(json.dumps({"models": models, "rag": rag}, indent=1), encoding="utf-8")  # JSON is YAML
    return path


def write_documents(folder: Path, names: Sequence[str], *, version: int = 1, parts: int = 1) -> list[str]:
    """Documents of so many chunks, each with words of its own; returns the names."""
    for name in names:
        write_text(folder / name, "\n\n".join(part_text(name, version, part, parts) for part in range(1, parts + 1)))
    return list(names)


def write_text(path: Path, text: str) -> None:
    """Saves a file as editors do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def numbered(count: int, first: int = 0) -> list[str]:
    """So many names of documents."""
    return [f"{number}.md" for number in range(first, first + count)]


@contextmanager
def provider_fleet(
    folder: Path,
    name: str,
    provider: FakeProvider,
    *,
    embedding: Mapping[str, Any] | None = None,
    model: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Fleet]:
    """Servers and an empty folder of documents, for processes whose only knowledge base has vectors of the provider."""
    with running_fleet(folder, name, more_settings={KEY_VARIABLE: made_key(name), **(settings or {})}) as fleet:
        base = Base(fleet.documents, embedding=embedding or {}, model=model or {}, more=more or {})
        write_provider_configuration(fleet.configuration, provider, {name: base})
        yield fleet


class ProviderDocmill(RunningDocmill):
    """``docmill up`` on one machine, with knowledge bases on a fake provider."""

    def __init__(
        self, folder: Path, provider: FakeProvider, bases: Mapping[str, Base], *arguments: str, settings: Mapping[str, str] | None = None
    ) -> None:
        """Nothing runs before ``start``; the keys are those of ``made_key``, by variable."""
        configuration = write_provider_configuration(folder / "docmill.yaml", provider, bases)
        keys = {base.key_variable: made_key(base.key_variable) for base in bases.values()}
        super().__init__(configuration, folder / "data", *arguments, settings={**keys, **(settings or {})})

    def run(self, kb: str = "kb") -> dict[str, Any]:
        """The run that goes on, or the last one."""
        run: dict[str, Any] | None = self.status(kb)["run"]
        return run or {"id": "", "state": "", "finished_at": None, "counters": {}}

    def gate(self, kb: str = "kb") -> dict[str, Any]:
        """The gate of its provider."""
        [gate] = self.status(kb)["gate"]
        found: dict[str, Any] = gate
        return found

    def wait_for_run(self, kb: str = "kb", *, after: str = "", seconds: float = RUN_SECONDS) -> dict[str, Any]:
        """The first run that is not ``after`` and has ended."""

        def ended() -> bool:
            run = self.run(kb)
            return run["finished_at"] is not None and run["id"] != after

        self.wait_until(ended, f"a run of {kb} after {after!r} to end", seconds)
        return self.run(kb)

    def wait_for_state(self, state: str, kb: str = "kb", seconds: float = RUN_SECONDS) -> dict[str, Any]:
        """The run, once it is in this state."""
        self.wait_until(lambda: self.run(kb)["state"] == state, f"the run of {kb} to be {state}", seconds)
        return self.run(kb)

    def post(self, path: str, kb: str = "kb") -> Any:
        """The JSON of a POST without a body below a knowledge base."""
        response = httpx.post(f"{self.url}/v1/knowledge-bases/{kb}{path}", json={}, timeout=30)
        assert response.is_success, response.text
        return response.json()

    def cancel(self, run_id: str, kb: str = "kb") -> None:
        """Ends a run."""
        response = httpx.delete(f"{self.url}/v1/knowledge-bases/{kb}/runs/{run_id}", timeout=30)
        assert response.is_success, response.text

    def documents(self, state: str, kb: str = "kb") -> dict[str, str]:
        """The names of the documents in this state, each with its reason."""
        found = self.get(f"/{kb}/documents?state={state}&limit=1000")["documents"]
        return {Path(one["document_id"]).name: one.get("reason", "") for one in found}

    def finds(self, name: str, kb: str = "kb") -> bool:
        """Whether the document, and no other, is found by its own word."""
        return [Path(found).name for found in self.found(word_of(name), kb)] == [name]


def refusals(log: Sequence[Seen]) -> list[Seen]:
    """The requests that were asked to come later."""
    return [seen for seen in log if seen.status == 429]


def asked_between(log: Sequence[Seen], since: float, until: float) -> list[Seen]:
    """The requests that came after one moment and before another, in seconds since 1970."""
    return [seen for seen in log if since < seen.at < until]


def most_in_a_window(log: Sequence[Seen], seconds: float) -> int:
    """The most requests that came within a window of so many seconds."""
    times = [seen.at for seen in log]
    return max((sum(begin <= at < begin + seconds for at in times) for begin in times), default=0)
