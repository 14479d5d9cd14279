"""What must hold after every step, and at the end."""

from collections import defaultdict
from collections.abc import Mapping

from docmill.domain.documents import fingerprint_of
from docmill.domain.registry import DocumentState, Entry, Version
from docmill.domain.verification import FindingKind
from docmill.indexing.verifying import Verifier
from docmill.ports.state import KnowledgeBaseState
from docmill.retrieval.snapshot import Snapshot
from support.indexing_world import INDEX_SET
from support.protocol_machine_source import BINARY, DOCUMENTS, SourceScan, texts_of
from support.protocol_machine_world import MACHINE_KB, ProtocolWorld

STRATEGIES = tuple(strategy.name for strategy in MACHINE_KB.strategies)


def check_live_versions(world: ProtocolWorld) -> None:
    """The live generation of every document is whole in every store, as searches see it."""
    counts: defaultdict[str, int] = defaultdict(int)
    for document_id in DOCUMENTS:
        entry = world.entry(document_id)
        if entry is None or entry.live is None:
            continue
        expected = world.history.expected_texts(entry.live)
        for strategy in STRATEGIES:
            counts[strategy] += len(expected)
            assert entry.live.chunks.get(strategy, 0) == len(expected), f"{document_id}: the registry counts {entry.live.chunks}"
            stored = world.stored_texts(strategy, document_id, entry.live.generation)
            if stored == expected:
                continue
            assert document_id in world.damaged, (
                f"{document_id}: {strategy} holds {stored} of the live g{entry.live.generation}, not {expected}"
            )
    live_chunks = world.memory.registry.counts(INDEX_SET)[1]
    assert live_chunks == {strategy: count for strategy, count in counts.items() if count}, f"the registry counts {live_chunks}"


def check_query(world: ProtocolWorld, snapshot: Snapshot) -> None:
    """A query shows, of each document, all of the version that was live when it read its commit number, or says that it does not."""
    if snapshot.unverified:
        return
    live = world.history.live_at[snapshot.position.epoch, snapshot.position.commit]
    found: defaultdict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for candidate in sorted(snapshot.candidates, key=lambda candidate: candidate.record.index):
        found[candidate.strategy, candidate.record.document_id].append((candidate.record.generation, candidate.record.text))
    missing: set[str] = set()
    for document_id in DOCUMENTS:
        if document_id in world.damaged:
            continue
        version = live.get(document_id)
        for strategy in STRATEGIES:
            if strategy in snapshot.failures:
                continue
            shown = found.get((strategy, document_id), [])
            expected = _expected(world, version)
            if not shown and expected:
                missing.add(document_id)
            else:
                assert shown == expected, f"{strategy} shows {shown} of {document_id}, but {expected} was live at {snapshot.position}"
        if document_id in missing:
            assert not any((strategy, document_id) in found for strategy in STRATEGIES), f"a query shows {document_id} in part"
    assert len(missing) <= snapshot.dropped, f"a query leaves {sorted(missing)} out and says that it dropped {snapshot.dropped}"


def check_rebuilt(world: ProtocolWorld, before: Mapping[str, Entry | None]) -> None:
    """After a rebuild everything is served that was whole, and nothing has to be embedded that is what its file holds."""
    for document_id, old in before.items():
        if old is None or old.live is None or not old.live.chunks or document_id in world.damaged:
            continue
        content, entry = world.source.files[document_id].content, world.entry(document_id)
        assert entry is not None, f"{document_id} was whole, and is not served after the rebuild"
        assert entry.live is not None
        if content is not None and old.live.fingerprint == fingerprint_of(content.encode()):
            assert entry.live.fingerprint == old.live.fingerprint, f"{document_id} was current, and is not after the rebuild"
            assert not entry.marked, f"{document_id} is indexed again without need"


def _expected(world: ProtocolWorld, version: Version | None) -> list[tuple[int, str]]:
    return [(version.generation, text) for text in world.history.expected_texts(version)] if version is not None else []


def check_promises(world: ProtocolWorld) -> None:
    """Without any scan: what the ledger promised to look at was looked at, unless that failed with a reason."""
    for document_id in DOCUMENTS:
        file, entry = world.source.files[document_id], world.entry(document_id)
        if world.history.announced.get(document_id) != file.number or (entry is not None and entry.state is DocumentState.FAILED):
            continue
        _check_document(world, document_id)


def check_converged(world: ProtocolWorld) -> None:
    """The index equals the source, and nothing is left over."""
    for document_id in DOCUMENTS:
        _check_document(world, document_id)
    for strategy in STRATEGIES:
        store = world.raw_target.store(MACHINE_KB.strategy(strategy))
        index = world.raw_target.index(strategy)
        store.refresh(index)
        for generation in store.generations(index):
            entry = world.entry(generation.document_id)
            live = entry is not None and entry.live is not None and entry.live.generation == generation.generation
            assert live, f"{strategy} still holds {generation}"
            assert generation.whole, f"{strategy} holds only a part: {generation}"
    data = world.memory.snapshot()
    assert not data.ledger, f"still in the ledger: {sorted(data.ledger)}"
    assert not data.leases, f"still leased: {sorted(data.leases)}"
    assert not data.dirty, f"still dirty: {sorted(data.dirty)}"
    assert not data.garbage, f"still garbage: {sorted(data.garbage)}"
    assert not data.gone_since, f"still gone: {sorted(data.gone_since)}"
    assert not world.broker.waiting
    assert not world.broker.unacknowledged


def check_verified(world: ProtocolWorld) -> None:
    """A comparison of files, registry and stores finds nothing; the index set's name is not one that tells of its stores."""
    disk = SourceScan(world.source)
    state = KnowledgeBaseState(world.memory.registry, world.memory.leases, world.memory.ledger)
    verifier = Verifier(state, [world.raw_target], world.source, disk, world.broker, world.clock, None)
    found = [finding for finding in verifier.verify().findings if finding.kind is not FindingKind.STORE]
    assert not found, f"a comparison finds {found}"


def _check_document(world: ProtocolWorld, document_id: str) -> None:
    content, entry = world.source.files[document_id].content, world.entry(document_id)
    state = entry.state if entry is not None else None
    if content is None:
        assert entry is None or state is DocumentState.GONE, f"{document_id} is gone, but the registry says {state}"
        return
    assert entry is not None, f"{document_id} is not in the registry"
    assert entry.live is not None, f"{document_id} has no live version"
    assert entry.live.fingerprint == fingerprint_of(content.encode()), f"{document_id} shows another content"
    indexed = DocumentState.LIVE if texts_of(content) else DocumentState.EMPTY
    expected = DocumentState.SKIPPED if content == BINARY else indexed
    assert state is expected, f"{document_id} is {state}, not {expected}: {entry.reason}"
