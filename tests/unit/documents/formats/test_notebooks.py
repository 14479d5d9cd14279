"""Notebooks: cells, what they printed, and the lines of the file."""

import json
from typing import Any

import pytest

from docmill.documents.formats.notebooks import read_notebook


def notebook(*cells: dict[str, Any], **metadata: Any) -> str:
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def code(source: Any, *outputs: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": list(outputs)}


def markdown(source: Any, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": metadata, "source": source}


def stream(text: Any) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def test_cells_follow_each_other_with_markdown_as_it_is_and_code_fenced() -> None:
    extracted = read_notebook(
        notebook(markdown(["# Title\n", "\n", "Text\n"]), code(["import x\n", "# no heading"]), {"cell_type": "raw", "source": "raw"})
    )
    assert extracted.text == "# Title\n\nText\n\n```\nimport x\n# no heading\n```\n\nraw"
    assert [(heading.level, heading.text) for heading in extracted.outline.headings] == [(1, "Title")]
    assert [extracted.text[block.start : block.end] for block in extracted.outline.blocks] == ["```\nimport x\n# no heading\n```\n"]
    assert extracted.title == "Title"


def test_tables_and_lists_of_markdown_cells_are_kept_whole() -> None:
    extracted = read_notebook(notebook(markdown("a"), markdown("| a | b |\n| - | - |\n| 1 | 2 |")))
    (block,) = extracted.outline.blocks
    assert block.header_end is not None
    assert extracted.text[block.start : block.header_end] == "| a | b |\n| - | - |\n"


def test_the_lines_are_those_of_the_file() -> None:
    text = notebook(
        markdown(["# One\n", "two\n", "\n", "three"]), code(["four\n", "five"], stream(["six\n", "seven\n"])), markdown("eight\nnine")
    )
    extracted = read_notebook(text)
    assert extracted.source_lines is not None
    found = dict(zip(extracted.text.split("\n"), extracted.source_lines, strict=True))
    lines = text.split("\n")
    for word in ("# One", "two", "three", "four", "five", "six", "seven", "eight", "nine"):
        assert word in lines[found[word] - 1]


def test_repeated_keys_cost_the_lines_but_not_the_text() -> None:
    text = '{"cells": [{"cell_type": "markdown", "source": "x", \n "source": "text"}]}'
    assert read_notebook(text).text == "text"


def test_what_a_cell_printed_is_kept_without_colours_and_up_to_a_length() -> None:
    extracted = read_notebook(notebook(code("x", stream("\x1b[31mred\x1b[0m\n10%\r100%\n"), stream("long " * 2000))))
    assert "```output\nred\n100%\n```" in extracted.text
    assert len(extracted.text) < 2200
    assert extracted.text.endswith("…\n```")


def test_all_that_was_printed_together_is_bounded() -> None:
    assert len(read_notebook(notebook(*[code("x", stream("long " * 400))] * 300)).text) < 210_000


def test_images_and_their_names_are_left_out() -> None:
    image = {"output_type": "display_data", "data": {"image/png": "iVBORw0" * 500, "text/plain": ["<Figure size 640x480>"]}}
    widget = {"output_type": "display_data", "data": {"application/vnd.jupyter.widget-view+json": {"model_id": "NOISE"}}}
    text = read_notebook(notebook(code("plot()", image, widget), markdown(f"![a](data:image/png;base64,{'iVBORw0' * 200})"))).text
    assert "iVBORw0" not in text
    assert "Figure" not in text
    assert "NOISE" not in text
    assert "plot()" in text


def test_results_and_errors_are_text() -> None:
    result = {"output_type": "execute_result", "data": {"text/plain": ["42"], "text/html": ["<b>UNUSED</b>"]}}
    page = {"output_type": "execute_result", "data": {"text/html": "<table><tr><th>a<th>b<tr><td>1<td>2</table>"}}
    error = {"output_type": "error", "ename": "ValueError", "evalue": "bad thing", "traceback": ["\x1b[0;31mUNUSED"]}
    text = read_notebook(notebook(code("x", result, page, error))).text
    assert "```output\n42\n```" in text
    assert "| 1 | 2 |" in text
    assert "ValueError: bad thing" in text
    assert "UNUSED" not in text


def test_tags_of_cells_and_the_language_are_metadata() -> None:
    extracted = read_notebook(
        notebook(
            code("x = 1", tags=["parameters", "bad tag!", 3]),
            markdown("y", tags=["intro", "parameters"]),
            kernelspec={"display_name": "Python 3", "language": "python"},
            title="Named",
            authors=[{"name": "Ada"}, {"name": "Bob"}],
        )
    )
    assert extracted.metadata == {
        "programming_language": "python",
        "kernel": "Python 3",
        "author": "Ada, Bob",
        "tags": ["parameters", "intro"],
    }
    assert extracted.text.startswith("```python parameters\n")
    assert extracted.title == "Named"


def test_formats_2_and_3_are_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Old heading"]},
        {
            "cell_type": "code",
            "language": "python",
            "input": ["print(1)"],
            "outputs": [{"output_type": "pyout", "text": ["one"], "png": "x"}],
        },
        {
            "cell_type": "code",
            "input": "y",
            "outputs": [{"output_type": "pyout", "text": ["two"]}, {"output_type": "pyerr", "evalue": "e"}],
        },
    ]
    extracted = read_notebook(
        json.dumps({"metadata": {"name": ""}, "nbformat": 3, "worksheets": [{"cells": cells[:2]}, {"cells": cells[2:]}]})
    )
    assert extracted.text == "## Old heading\n\n```python\nprint(1)\n```\n\n```\ny\n```\n\n```output\ntwo\n```\n\n```output\ne\n```"


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"cells": [{"cell_type": "code", "source": ["NEEDLE',
        "[" * 100_000,
        '{"a": ' * 100_000,
        "[1, 2]",
        '{"cells": {}}',
        '{"worksheets": [1, {"cells": 3}]}',
        "<html>",
    ],
)
def test_what_is_no_notebook_is_read_as_it_is(text: str) -> None:
    assert read_notebook(text).text == text


@pytest.mark.parametrize("odd", [None, 3, "x", [], {}, [3, None], {"a": 1}])
def test_odd_values_in_a_notebook_are_left_out(odd: Any) -> None:
    for key in ("cell_type", "source", "outputs", "metadata"):
        read_notebook(notebook({**code("x", stream("y")), key: odd}))
        read_notebook(notebook({**markdown("x"), key: odd}))
    for key in ("output_type", "text", "data", "ename", "evalue"):
        read_notebook(notebook(code("x", {**stream("y"), key: odd}, {"output_type": "error", key: odd})))
    read_notebook(notebook(odd, code("x", odd), kernelspec=odd, language_info=odd, authors=odd, title=odd))
