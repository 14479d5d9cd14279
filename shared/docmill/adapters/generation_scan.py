"""A scan of all generations in bounded memory, for stores that give their points by id, so that a generation's chunks come in any order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from docmill.adapters.chunk_payload import place_of
from docmill.domain.chunks import StoredGeneration, point_id_of

#: Gives those of these point ids that the store holds; it may split what it asks for.
Present = Callable[[Sequence[str]], set[str]]

#: How many ids are looked up together; the ids of one document are never split.
_IDS_AT_ONCE: Final = 4_000

_Place = tuple[str, int, int, int, str]  # document id, generation, index, count, fingerprint


def generations_on_page(payloads: Sequence[Mapping[str, Any]], strategy: str, present: Present) -> Iterator[StoredGeneration]:
    """The generations whose first chunk that is there is on this page, so that each is reported once over all pages.

    The other chunks of each are looked up by their ids: the memory is one page and the ids of one document, whatever the index holds.

    Args:
        payloads: of the points of one page, with ``PLACE_FIELDS``.
        strategy: part of the ids.
        present: asks the store.
    """
    places: list[_Place] = [(str(payload["doc"]), int(payload["gen"]), *place_of(payload)) for payload in payloads]
    begun = {place[:2] for place in places if place[2] == 0}
    heads = {place[:2]: point_id_of(*place[:2], strategy, 0) for place in places if place[2] > 0 and place[:2] not in begun}
    with_head = present(list(heads.values())) if heads else set()
    headless = [place for place in places if place[2] > 1 and place[:2] in heads and heads[place[:2]] not in with_head]
    later = {place[:3] for place, earlier in _looked_up(headless, strategy, present, lambda index, _: range(1, index)) if earlier}
    first = [
        place for place in places if place[2] == 0 or (place[:2] in heads and heads[place[:2]] not in with_head and place[:3] not in later)
    ]
    for (document_id, generation, _, count, fingerprint), others in _looked_up(first, strategy, present, lambda i, n: range(i + 1, n)):
        yield StoredGeneration(document_id, generation, fingerprint, count, 1 + others)


def _looked_up(
    places: Sequence[_Place], strategy: str, present: Present, indexes: Callable[[int, int], range]
) -> Iterator[tuple[_Place, int]]:
    """Each place with how many of its generation's chunks are there, of those that ``indexes(index, count)`` names."""
    group: list[tuple[_Place, list[str]]] = []
    size = 0
    for number, place in enumerate(places, 1):
        ids = [point_id_of(*place[:2], strategy, index) for index in indexes(*place[2:4])]
        group.append((place, ids))
        size += len(ids)
        if size >= _IDS_AT_ONCE or number == len(places):
            found = present([point_id for _, ids in group for point_id in ids]) if size else set()
            yield from ((place, sum(point_id in found for point_id in ids)) for place, ids in group)
            group, size = [], 0
