"""How well searches find what people judged relevant, on collections that you have: ``python -m benchmarks.quality FOLDER``.

Each folder in FOLDER is a collection: ``corpus.jsonl`` (id, title, text), ``queries.jsonl`` (id, text) and ``qrels.tsv`` (query id,
document id, grade). Its documents are written as Markdown files and indexed and searched as any folder is. Beside docmill stands SQLite's
own BM25 on the same documents.
"""

import argparse
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.machine import machine, table
from docmill_services.evaluation.evaluating import Way, evaluate, measure_names
from docmill_services.evaluation.judgements import Judgements, read_judgements

DEPTH = 100
PROGRAM = Path(sys.executable).with_name("docmill")
HEAD = ("collection", "what", *measure_names(DEPTH), "indexed in s")


def documents_of(collection: Path) -> dict[str, str]:
    """Each document as Markdown, by its id: the title is a heading."""
    texts: dict[str, str] = {}
    for line in (collection / "corpus.jsonl").read_text(encoding="utf-8").split("\n"):
        if line.strip():
            document = json.loads(line)
            title = str(document.get("title") or "").strip()
            texts[str(document["id"])] = f"# {title}\n\n{document['text']}\n" if title else f"{document['text']}\n"
    return texts


def run(*arguments: str | Path) -> str:
    """What a command of docmill prints; 1 means that it found something to say, such as an empty document."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise SystemExit(done.stderr)
    return done.stdout


def docmill_rows(collection: Path, documents: Mapping[str, str], data: Path) -> Iterator[tuple[str, ...]]:
    """A row for each way to ask; what ``data`` holds from an earlier time is not indexed again."""
    files = data / "files"
    files.mkdir(parents=True, exist_ok=True)
    for name, text in documents.items():
        if not (file := files / f"{name}.md").exists():
            file.write_text(text, encoding="utf-8")
    begun = time.perf_counter()
    run("index", files, "--data-dir", data / "index")
    taken = f"{time.perf_counter() - begun:.1f}"
    report = json.loads(run("eval", collection, "--data-dir", data / "index", "--depth", str(DEPTH), "--json"))
    rows: dict[str, dict[str, Any]] = {**report["strategies"], "fused": report["fused"]}
    for what, row in rows.items():
        yield (collection.name, what, *(f"{row[name]:.3f}" for name in measure_names(DEPTH)), taken)


def sqlite_row(collection: Path, judgements: Judgements, documents: Mapping[str, str]) -> tuple[str, ...]:
    """The same documents in SQLite's BM25, with its English stemmer."""
    begun = time.perf_counter()
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, text, tokenize = 'porter')")
    database.executemany("INSERT INTO documents VALUES (?, ?)", documents.items())
    taken = f"{time.perf_counter() - begun:.1f}"

    def search(body: Mapping[str, Any]) -> Mapping[str, Any]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", body["query"]))
        found = database.execute("SELECT id FROM documents WHERE documents MATCH ? ORDER BY rank LIMIT ?", (words, body["limit"]))
        results = [{"document_id": name} for (name,) in found]
        return {"results": results, "degraded": [], "reranked": False, "freshness": {"pending": 0}}

    (measured,) = evaluate(search, judgements.queries, judgements.grades, [Way("SQLite FTS5")], depth=DEPTH)
    return (collection.name, "SQLite FTS5", *(f"{measured.measures[name]:.3f}" for name in measure_names(DEPTH)), taken)


def rows_of(collection: Path, data: Path) -> Iterator[tuple[str, ...]]:
    """All rows of one collection."""
    judgements, documents = read_judgements(collection, None), documents_of(collection)
    yield from docmill_rows(collection, documents, data)
    yield sqlite_row(collection, judgements, documents)


@contextmanager
def kept_or_temporary(folder: Path | None) -> Iterator[Path]:
    """``folder``, or one that goes at the end."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="docmill-bench-") as scratch:
        yield Path(scratch)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds a folder for each collection")
    parser.add_argument("--keep", type=Path, help="where files and indexes are kept, so that the next time nothing is indexed again")
    options = parser.parse_args(arguments)
    collections = sorted(file.parent for file in options.folder.glob("*/corpus.jsonl"))
    if not collections:
        raise SystemExit(f"{options.folder}: none of its folders has a corpus.jsonl")
    rows = [HEAD]
    with kept_or_temporary(options.keep) as data:
        for collection in collections:
            print(f"{collection.name} ...", file=sys.stderr, flush=True)
            rows += rows_of(collection, data.absolute() / collection.name)
    print(machine())
    print(table(rows))


if __name__ == "__main__":
    main()
