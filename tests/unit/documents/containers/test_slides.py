"""Presentations: slides as pages, with titles, tables, diagrams and notes."""

import io
import re
import zipfile
from collections.abc import Callable

import pptx
import pytest
from pptx.presentation import Presentation
from pptx.util import Inches

from docmill.documents.containers.slides import read_pptx
from docmill.domain.errors import DocumentSkipped, SkipReason
from support.extractions import blocks_of, headings_of, pages_of
from support.made_archives import zipped


def saved(presentation: Presentation) -> bytes:
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def talk(*titles: str) -> Presentation:
    presentation = pptx.Presentation()
    for title in titles:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = f"about {title}"
    return presentation


def changed(content: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {one: archive.read(one) for one in archive.namelist()}
    parts[name] = change(parts[name])
    return zipped(parts)


def test_each_slide_is_a_page_under_its_title() -> None:
    extracted = read_pptx(saved(talk("One", "Two")))
    assert headings_of(extracted) == [(1, "One"), (1, "Two")]
    assert pages_of(extracted) == ["One\n\nabout One", "Two\n\nabout Two"]
    assert extracted.title == "One"


def test_slides_come_in_the_order_of_the_show() -> None:
    presentation = talk("One", "Two", "Three")
    order = presentation.slides._sldIdLst
    order.insert(0, order[2])
    assert [text for _, text in headings_of(read_pptx(saved(presentation)))] == ["Three", "One", "Two"]


def test_a_slide_without_a_title_is_named_by_its_number() -> None:
    presentation = talk("One")
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame.text = "just text"
    extracted = read_pptx(saved(presentation))
    assert pages_of(extracted)[1] == "Slide 2\n\njust text"


def test_tables_notes_and_groups_are_read() -> None:
    presentation = talk("One")
    slide = presentation.slides[0]
    slide.notes_slide.notes_text_frame.text = "say this\nand that"
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(4), Inches(1)).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"{row}{column}"
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(2), Inches(1)).text_frame.text = "in a group"
    extracted = read_pptx(saved(presentation))
    assert blocks_of(extracted) == [("00 | 01\n", "10 | 11\n")]
    assert extracted.text.endswith("in a group\n\nNotes: say this\nand that\n")


def test_cells_that_are_merged_are_read_once() -> None:
    presentation = talk("One")
    table = presentation.slides[0].shapes.add_table(2, 2, 0, 0, Inches(4), Inches(1)).table
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(0, 0).text = "over both"
    table.cell(1, 0).text, table.cell(1, 1).text = "a", "b"
    assert blocks_of(read_pptx(saved(presentation))) == [("over both\n", "a | b\n")]


def test_points_are_a_list() -> None:
    presentation = talk("One")
    frame = presentation.slides[0].placeholders[1].text_frame
    frame.text = "first"
    second = frame.add_paragraph()
    second.text, second.level = "below", 1
    assert blocks_of(read_pptx(saved(presentation))) == [("", "- first\n  - below\n")]


def test_hidden_slides_are_read_too() -> None:
    presentation = talk("One", "Backup")
    presentation.slides[1]._element.set("show", "0")
    assert [text for _, text in headings_of(read_pptx(saved(presentation)))] == ["One", "Backup"]


def test_one_damaged_slide_costs_no_other() -> None:
    content = changed(saved(talk("One", "Two", "Three")), "ppt/slides/slide2.xml", lambda part: part[: len(part) // 2])
    extracted = read_pptx(content)
    assert [text for _, text in headings_of(extracted)] == ["One", "Three"]
    assert len(extracted.page_starts) == 3


def test_a_document_type_in_a_part_is_not_followed() -> None:
    def with_entities(part: bytes) -> bytes:
        bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
        return re.sub(rb"<p:presentation ", bomb + rb"<p:presentation ", part, count=1)

    with pytest.raises(DocumentSkipped, match="document type") as skipped:
        read_pptx(changed(saved(talk("One")), "ppt/presentation.xml", with_entities))
    assert skipped.value.reason is SkipReason.PARSER_FAILED
