"""Store checks: whether each store answers, is the one that its index sets were made on, and has their indexes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from docmill.domain.errors import DocmillError
from docmill.domain.knowledge_bases import StrategyKind, StrategySpec
from docmill.domain.verification import Finding, FindingKind
from docmill.indexing.index_sets import index_set_id
from docmill.indexing.targets import Target


def store_name(strategy: StrategySpec) -> str:
    """The name by which people know the store of a strategy."""
    return "lexical" if strategy.kind is StrategyKind.BM25 else "vectors"


@dataclass(slots=True)
class StoreChecks:
    """What is wrong with whole stores.

    Attributes:
        readable: the physical indexes that can be compared.
    """

    findings: list[Finding] = field(default_factory=list)
    readable: frozenset[str] = frozenset()

    def no_answer(self, target: Target, strategy: StrategySpec, error: DocmillError) -> Finding:
        """The finding of an index that stopped to answer; it is readable no more."""
        self.readable -= {target.index(strategy.name)}
        return Finding(FindingKind.STORE, None, store_name(strategy), f"{error.code}: {error}")


def check_stores(targets: Sequence[Target], *, make_again: bool) -> StoreChecks:
    """Asks the stores, and shows all that was written to them.

    Args:
        targets: the index sets; the last one is as the knowledge base is configured now.
        make_again: whether an index that is lacking is made.
    """
    checks = StoreChecks()
    for target in targets:
        for strategy in target.knowledge_base.strategies:
            _check_index(checks, target, strategy, make_again=make_again)
    if not checks.findings:
        checks.findings += _of_identity(targets[-1])
    return checks


def _check_index(checks: StoreChecks, target: Target, strategy: StrategySpec, *, make_again: bool) -> None:
    store, index = target.store(strategy), target.index(strategy.name)
    try:
        if index not in store.indexes():
            then = "; it was made again, and its documents are planned again" if make_again else ""
            checks.findings.append(Finding(FindingKind.STORE, None, store_name(strategy), f"index {index} is lacking{then}"))
            if not make_again:
                return
            target.create_indexes()
        store.refresh(index)
    except DocmillError as error:
        checks.findings.append(checks.no_answer(target, strategy, error))
    else:
        checks.readable |= {index}


def _of_identity(target: Target) -> list[Finding]:
    identities = (target.vectors.identity(), target.lexical.identity())
    if target.index_set == index_set_id(target.knowledge_base.pipeline_hash, identities):
        return []
    detail = f"a store was wiped or swapped since index set {target.index_set} was made; the next start of docmill indexes into another set"
    return [Finding(FindingKind.STORE, None, "vectors and lexical", detail)]
