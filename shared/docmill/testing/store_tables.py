"""Filters, texts and queries with what a store must make of them."""

from typing import Any, Final

from docmill.domain.chunks import ChunkFilter

EVERYTHING: Final = ChunkFilter()

#: Filters with the documents of ``FILTERED`` that they let through.
FILTERED: Final[dict[str, dict[str, Any]]] = {
    "docs/a.md": {"language": None, "metadata": {"team": "core", "tags": ["x", "y"], "year": 2024, "draft": True}},
    "docs/deep/b.md": {"language": None, "metadata": {"team": "core", "tags": ["y"], "year": 2024.5, "draft": False}},
    "docs/deep/er/c.py": {"language": "python", "mime": "text/x-python", "metadata": {}},
    "docs-old/a.md": {"language": None, "metadata": {"team": "docs", "year": 1}},
    "README.md": {"language": None, "metadata": {"team": "core team"}},
    "docs/[x] 100%.md": {"language": None, "metadata": {"a.b": "dotted", "long": "z" * 500}},
    "naïve/日本語.md": {"language": None, "metadata": {"team": "Zoë"}},
}
FILTERS: Final[list[tuple[ChunkFilter, set[str]]]] = [
    (EVERYTHING, set(FILTERED)),
    (ChunkFilter(path_prefix=""), set(FILTERED)),
    (ChunkFilter(path_prefix="docs/"), {"docs/a.md", "docs/deep/b.md", "docs/deep/er/c.py", "docs/[x] 100%.md"}),
    (ChunkFilter(path_prefix="docs"), {"docs/a.md", "docs/deep/b.md", "docs/deep/er/c.py", "docs-old/a.md", "docs/[x] 100%.md"}),
    (ChunkFilter(path_prefix="naïve/日"), {"naïve/日本語.md"}),
    (ChunkFilter(path_prefix="nowhere"), set()),
    (ChunkFilter(path_glob="*.md"), {"README.md"}),
    (ChunkFilter(path_glob="docs/*"), {"docs/a.md", "docs/[x] 100%.md"}),
    (ChunkFilter(path_glob="docs/**"), {"docs/a.md", "docs/deep/b.md", "docs/deep/er/c.py", "docs/[x] 100%.md"}),
    (ChunkFilter(path_glob="**/*.md"), set(FILTERED) - {"docs/deep/er/c.py"}),
    (ChunkFilter(path_glob="docs/**/*.py"), {"docs/deep/er/c.py"}),
    (ChunkFilter(path_glob="docs/**/a.md"), {"docs/a.md"}),
    (ChunkFilter(path_glob="**/?.md"), {"docs/a.md", "docs/deep/b.md", "docs-old/a.md"}),
    (ChunkFilter(path_glob="docs/[x] 100%.md"), {"docs/[x] 100%.md"}),
    (ChunkFilter(path_glob="readme.md"), set()),
    (ChunkFilter(language="python"), {"docs/deep/er/c.py"}),
    (ChunkFilter(language="Python"), set()),
    (ChunkFilter(mime="text/x-python"), {"docs/deep/er/c.py"}),
    (ChunkFilter(metadata={"team": "core"}), {"docs/a.md", "docs/deep/b.md"}),
    (ChunkFilter(metadata={"team": "Zoë"}), {"naïve/日本語.md"}),
    (ChunkFilter(metadata={"tags": "y"}), {"docs/a.md", "docs/deep/b.md"}),
    (ChunkFilter(metadata={"tags": ["y", "x"]}), {"docs/a.md"}),
    (ChunkFilter(metadata={"team": ["core"]}), set()),
    (ChunkFilter(metadata={"year": 2024}), {"docs/a.md"}),
    (ChunkFilter(metadata={"year": 2024.0}), {"docs/a.md"}),
    (ChunkFilter(metadata={"year": "2024"}), set()),
    (ChunkFilter(metadata={"year": True}), set()),
    (ChunkFilter(metadata={"draft": True}), {"docs/a.md"}),
    (ChunkFilter(metadata={"draft": 1}), set()),
    (ChunkFilter(metadata={"a.b": "dotted"}), {"docs/[x] 100%.md"}),
    (ChunkFilter(metadata={"long": "z" * 500}), {"docs/[x] 100%.md"}),
    (ChunkFilter(metadata={"long": "z" * 499}), set()),
    (ChunkFilter(metadata={"absent": ""}), set()),
    (ChunkFilter(path_prefix="docs/", metadata={"team": "core"}, mime="text/markdown"), {"docs/a.md", "docs/deep/b.md"}),
]

#: Texts with queries that find them.
FOUND: Final = [
    ("He indexes many documents.", "indexing a document"),
    ("The User opens it", "uSER"),
    ("call getUserName() here", "getUserName"),
    ("call getUserName() here", "getusername"),
    ("call getUserName() here", "user name"),
    ("set snake_case_name = 1", "snake_case_name"),
    ("set snake_case_name = 1", "snake"),
    ("failed with ERR_4418.", "ERR_4418"),
    ("failed with ERR_4418.", "4418"),
    ("async with asyncio.TaskGroup() as group", "asyncio.TaskGroup"),
    ("async with asyncio.TaskGroup() as group", "TaskGroup"),
    ("async with asyncio.TaskGroup() as group", "task"),
    ("class HTTPServer2(Base)", "HTTPServer2"),
    ("class HTTPServer2(Base)", "http server"),
    ("id 550e8400-e29b-41d4-a716-446655440000;", "550e8400-e29b-41d4-a716-446655440000"),
    ("see foo-bar.md", "foo-bar.md"),
    ("see foo-bar.md", "bar"),
    ("un café crème", "cafe"),
    ("a cafe", "café"),
    ("die Straße", "strasse"),
    ("今天天气很好，我们去公园。", "天气"),
    ("今天天气很好，我们去公园。", "园"),
    ("吾輩は猫である。名前はまだ無い。", "猫"),
    ("東京タワーに行きました", "東京タワー"),
    ("한국어 문서를 검색합니다", "문서"),
    ("ยินดีต้อนรับสู่ประเทศไทย", "ประเทศไทย"),
    ("быстрая лиса", "лиса"),
    ("हिन्दी में लिखा", "हिन्दी"),
    ("to be or not to be", "to be or not to be"),
    ("the C language", "c"),
]
#: Texts in other languages than English, with queries that have other forms of their words.
FOUND_BY_OWN_STEMS: Final = [
    ("Die Häuser in der Stadt sind alt, und die Kinder spielen mit den Büchern.", "Haus"),
    ("Die Häuser in der Stadt sind alt, und die Kinder spielen mit den Büchern.", "das Buch eines Kindes"),
    ("Les chevaux de la ferme mangent du foin dans les champs nationaux.", "cheval"),
    ("Las canciones de los niños y las casas que hay en la ciudad.", "canción"),
    ("I libri della biblioteca e i documenti che sono nella casa.", "documento"),
    ("De boeken van het kind zijn in de huizen.", "boek"),
    ("Flickorna och pojkarna läser att husen är gamla i staden.", "flicka"),
    ("Документы и книги не были на столе, как это бывает.", "документ"),
    ("As informações e os livros que não estão no arquivo da cidade.", "livro"),
    ("Kitaplar ve belgeler bu evde olarak bir arada duruyor.", "kitap"),
]
NOT_A_WORD: Final = ["", " ", "?!", "---", "* ~ *", "\n\t\x00\x07", "。、", "(((", '"', "\ud800", "🙂"]

ANY_TEXTS: Final = [
    "word AND (NOT",
    'title:"word" ^2 ~ [a TO b] /re.*/',
    "word " * 5000,
    " ".join(f"w{number}" for number in range(5000)) + " word",
    "word\x00\x01\x1f\ud800 word",
    "x" * 100_000 + " word",
    "<script>word</script> {{ word }} '; drop table word",
]
