"""Makes a corpus: Markdown files of about 2 KB with headings, the same ones for the same seed."""

import random
from pathlib import Path

_SYLLABLES = [consonant + vowel for consonant in "bdklmnrs" for vowel in "aeiou"]


def words(count: int, seed: int = 7) -> list[str]:
    """``count`` different made-up words."""
    chance = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(chance.choice(_SYLLABLES) for _ in range(chance.randint(2, 4)))] = None
    return list(found)


def text_of(chance: random.Random, vocabulary: list[str], characters: int) -> str:
    """About ``characters`` of sentences; common words are common, as in real text."""
    weights = [1.0 / (rank + 1) for rank in range(len(vocabulary))]
    parts: list[str] = []
    length = 0
    while length < characters:
        sentence = " ".join(chance.choices(vocabulary, weights, k=chance.randint(6, 14))).capitalize() + "."
        parts.append(sentence)
        length += len(sentence) + 1
    return " ".join(parts)


def write_markdown(folder: Path, files: int, *, size: int = 2000, seed: int = 11) -> None:
    """``files`` Markdown files in folders of 100."""
    chance = random.Random(seed)
    vocabulary = words(4000)
    for number in range(files):
        place = folder / f"part{number // 100:03}"
        if number % 100 == 0:
            place.mkdir(parents=True, exist_ok=True)
        half = size // 2 - 60
        (place / f"note{number:05}.md").write_text(
            f"# Note {number}\n\n{text_of(chance, vocabulary, half)}\n\n## Part two of {number}\n\n{text_of(chance, vocabulary, half)}\n\n"
            f"The mark of this note is needle{number:05}.\n",
            encoding="utf-8",
        )
