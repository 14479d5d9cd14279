"""Compares what an ended docmill left in its data folder with the disk: registry and both stores, in both directions."""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from docmill.bootstrap import Engine, OpenKnowledgeBase, open_engine
from docmill.config import Configuration, Settings
from docmill.config.loading import configuration_for_folder, load_configuration
from docmill.documents.identity import document_id_of
from docmill.domain.documents import fingerprint_of
from docmill.domain.registry import DocumentState
from docmill.indexing.sweeping import sweep_safely
from docmill.indexing.targets import Target


def documents_below(folder: Path, base_folder: Path) -> dict[str, bytes]:
    """Every file below ``folder`` by its document id, with its bytes."""
    found: dict[str, bytes] = {}
    for current, _, names in os.walk(folder):
        for name in names:
            path = Path(current) / name
            found[document_id_of(os.fsencode(path), base_folder)] = path.read_bytes()
    return found


def disagreements(target: Path, data_dir: Path, expected: Mapping[str, bytes]) -> list[str]:
    """What differs from ``expected`` (every document that is to be found, with its bytes), once everything due has been swept.

    Args:
        target: the folder or configuration file that was indexed; it has one knowledge base.
        data_dir: nobody else has it open.
        expected: by document id.
    """
    configuration: Configuration = configuration_for_folder(target) if target.is_dir() else load_configuration(target)
    engine = open_engine(configuration, Settings(), data_dir, os.environ)
    try:
        (opened,) = engine.knowledge_bases.values()
        return _disagreements(engine, opened, expected)
    finally:
        engine.close()


def _disagreements(engine: Engine, opened: OpenKnowledgeBase, expected: Mapping[str, bytes]) -> list[str]:
    engine.take_up_the_work()
    for _ in range(3):  # a generation is deleted twice, and one that stops being the previous one becomes due in between
        sweep_safely(opened.state.registry, opened.index_sets.targets, grace_seconds=0.0)
    opened.index_sets.drop_others()
    found: list[str] = []
    served = opened.index_sets.served()
    sets = opened.state.registry.index_sets()
    if sets != [served.index_set]:
        found.append(f"index sets {sets} while {served.index_set} is served")
    entries = dict(opened.state.registry.scan(served.index_set))
    for document_id in sorted(expected.keys() | entries.keys()):
        entry = entries.get(document_id)
        if document_id not in expected:
            if entry is not None and entry.state is not DocumentState.GONE:
                found.append(f"{document_id}: {entry.state} in the registry, not on the disk")
        elif entry is None or entry.live is None or entry.state not in (DocumentState.LIVE, DocumentState.EMPTY):
            found.append(f"{document_id}: on the disk, in the registry {entry}")
        elif entry.live.fingerprint != fingerprint_of(expected[document_id]):
            found.append(f"{document_id}: an older version is live")
    return found + _in_stores(engine, opened, served)


def _in_stores(engine: Engine, opened: OpenKnowledgeBase, served: Target) -> list[str]:
    found: list[str] = []
    entries = dict(opened.state.registry.scan(served.index_set))
    ours = {served.index(strategy.name) for strategy in served.knowledge_base.strategies}
    for store in (engine.vectors, engine.lexical):
        found += [f"index {index} belongs to no index set" for index in store.indexes() if index not in ours]
    for strategy in served.knowledge_base.strategies:
        store, index = served.store(strategy), served.index(strategy.name)
        wanted = {
            (document_id, entry.live.generation): entry.live.chunks.get(strategy.name, 0)
            for document_id, entry in entries.items()
            if entry.live is not None and entry.live.chunks.get(strategy.name, 0)
        }
        seen: Counter[tuple[str, int]] = Counter()
        for stored in store.generations(index):
            key = (stored.document_id, stored.generation)
            seen[key] += 1
            if key not in wanted:
                found.append(f"{stored.document_id}: generation {stored.generation} is left over in {strategy.name}")
            elif not stored.whole:
                found.append(f"{stored.document_id}: generation {stored.generation} is not whole in {strategy.name}")
        found += [f"{key[0]}: no chunk of generation {key[1]} in {strategy.name}" for key in wanted if key not in seen]
        for (document_id, generation), count in wanted.items():
            chunks = store.chunks_of(index, document_id, generation)
            if sorted(chunk.index for chunk in chunks) != list(range(count)):
                found.append(f"{document_id}: {strategy.name} holds chunks {sorted(c.index for c in chunks)} of {count}")
    return found
