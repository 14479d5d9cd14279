"""HTML: what of a page is its text, and how it is laid out."""

import pytest

from docmill.documents.extracted import Extracted
from docmill.documents.formats.html import read_html


def text_of(page: str) -> str:
    return read_html(page).text


def headings_of(extracted: Extracted) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in extracted.outline.headings]


def blocks_of(extracted: Extracted) -> list[str]:
    return [extracted.text[block.start : block.end] for block in extracted.outline.blocks]


def line_of(extracted: Extracted, word: str) -> int:
    assert extracted.source_lines is not None
    lines = extracted.text.split("\n")
    return extracted.source_lines[next(number for number, line in enumerate(lines) if word in line)]


class TestMainText:
    @pytest.mark.parametrize(
        "unwanted",
        [
            "<script>var x = '<p>UNWANTED</p>'</script>",
            "<style>p { content: 'UNWANTED' }</style>",
            "<template><p>UNWANTED</p></template>",
            "<noscript>UNWANTED</noscript>",
            "<!-- UNWANTED --><![if IE]>",
            "<p hidden>UNWANTED</p>",
            '<div style="color: red; display:none">UNWANTED</div>',
            '<div style="visibility: hidden"><p>UNWANTED</p></div>',
            '<div aria-hidden="true">UNWANTED</div>',
            '<span class="sr-only">UNWANTED</span>',
            "<nav><a>UNWANTED</a></nav>",
            "<footer>UNWANTED</footer>",
            "<aside>UNWANTED</aside>",
            "<header>UNWANTED</header>",
            '<div role="navigation">UNWANTED</div>',
            '<div role="contentinfo">UNWANTED</div>',
            '<div class="left-sidebar">UNWANTED</div>',
            '<ul id="breadcrumbs"><li>UNWANTED</ul>',
            '<div class="site-footer wide">UNWANTED</div>',
            "<select><option>UNWANTED</select>",
            "<button>UNWANTED</button>",
            "<svg><title>UNWANTED</title></svg>",
            "<dialog>UNWANTED</dialog>",
            "<ruby>x<rt>UNWANTED</rt></ruby>",
            "<title>UNWANTED</title>",
        ],
    )
    def test_what_is_not_the_pages_own_text_is_left_out(self, unwanted: str) -> None:
        text = text_of(f"<body>{unwanted}<div><h2>Head</h2><p>Wanted words of the page.</p>after</div></body>")
        assert "UNWANTED" not in text
        assert "Wanted words" in text
        assert "after" in text

    @pytest.mark.parametrize(
        "page",
        [
            "NEEDLE",
            "<p>NEEDLE",
            "<table><tr><td>NEEDLE</table>",
            "<nav>NEEDLE</nav>",
            "<footer><p>NEEDLE</p></footer>",
            "<header>NEEDLE</header>",
            "<header>NEEDLE<p>unclosed",
            "<aside>NEEDLE</aside>",
            "<main></main><div>NEEDLE</div>",
            "<article></article><p>NEEDLE",
            '<div class="sidebar">NEEDLE</div>',
            '<body style="display:none"><p>NEEDLE</p>',
            "<noscript>NEEDLE</noscript>",
            "<template>NEEDLE</template>",
            "<frameset><noframes>NEEDLE</noframes></frameset>",
            "<textarea>NEEDLE</textarea>",
            "<button>NEEDLE</button>",
            "<svg><text>NEEDLE",
            "</html></body>NEEDLE",
            "<p>NEEDLE<script>unclosed",
            "<!-- unclosed <p>NEEDLE",
            "<title>NEEDLE</title>",
            '<meta name="description" content="NEEDLE">',
            "<my-app><my-card>NEEDLE</my-card></my-app>",
        ],
    )
    def test_a_page_with_its_text_in_an_odd_place_is_not_empty(self, page: str) -> None:
        assert "NEEDLE" in text_of(page)

    def test_the_main_part_is_all_that_is_read_where_there_is_one(self) -> None:
        page = "<div>Around</div><main><p>The text of the page.</p><aside>Note in it</aside></main><div>After</div>"
        assert text_of(page) == "The text of the page.\n\nNote in it"

    def test_a_main_part_with_next_to_nothing_in_it_does_not_hide_the_page(self) -> None:
        assert "Everything" in text_of(f"<main>x</main><div>{'Everything else. ' * 20}</div>")

    def test_the_only_article_is_the_page_and_several_are_parts_of_it(self) -> None:
        assert text_of("<p>Menu</p><article>The long text of the article.</article>") == "The long text of the article."
        assert text_of("<article>One</article><article>Two</article><p>Rest</p>") == "One\n\nTwo\n\nRest"

    def test_the_title_above_the_main_part_belongs_to_it(self) -> None:
        extracted = read_html("<header><h1>Title</h1><p>Menu</p></header><main><h2>Sub</h2><p>Text.</p></main>")
        assert extracted.text == "# Title\n\n## Sub\n\nText."

    def test_names_of_classes_count_only_while_they_leave_enough_of_the_page(self) -> None:
        assert "Everything" in text_of(f'<div class="page-sidebar">{"Everything here. " * 20}</div><p>x</p>')
        assert "Everything" in text_of(f'<div class="has-sidebar">{"Everything here. " * 20}</div>')

    def test_hidden_text_is_not_shown_beside_a_short_page(self) -> None:
        assert text_of(f"<p>short</p><p hidden>{'SECRET ' * 50}</p>") == "short"

    def test_tabs_that_are_not_shown_at_first_are_read(self) -> None:
        assert text_of("<div role=tabpanel>pip</div><div role=tabpanel hidden>conda</div>") == "pip\n\nconda"

    def test_a_quote_keeps_the_footer_that_says_who_said_it(self) -> None:
        assert text_of("<blockquote><p>Words</p><footer>Someone</footer></blockquote>") == "> Words\n\n> Someone"


class TestLayout:
    def test_headings_are_those_of_the_outline(self) -> None:
        extracted = read_html(
            '<h1>One\n two</h1><p>a</p><h3><a href="#x"></a>C# <b>it</b><a class="headerlink" href="#x">¶</a></h3>b<h2></h2>'
        )
        assert headings_of(extracted) == [(1, "One two"), (3, "C# it")]
        assert extracted.text == "# One two\n\na\n\n### C# it\n\nb"

    def test_a_heading_that_never_ends_ends_at_the_next_paragraph(self) -> None:
        assert headings_of(read_html("<h2>Head<p>Text<h2>Next<ul><li>a</ul>")) == [(2, "Head"), (2, "Next")]

    def test_preformatted_text_is_fenced_as_it_is_and_kept_whole(self) -> None:
        extracted = read_html('a<pre><code class="hljs language-py">\n# no heading\n  x &lt; 1\n```\n</code></pre>b')
        assert blocks_of(extracted) == ["````py\n# no heading\n  x < 1\n```\n````\n"]
        assert headings_of(extracted) == []

    def test_the_language_of_code_may_stand_around_it(self) -> None:
        page = '<div class="highlight-python3 notranslate"><div><pre>x</pre></div></div><pre class="brush: js">y</pre><pre>z</pre>'
        assert text_of(page) == "```python3\nx\n```\n\n```js\ny\n```\n\n```\nz\n```"

    def test_lines_of_code_may_be_elements(self) -> None:
        assert text_of("<pre><div>a</div><div>  b</div>c<br>d</pre>") == "```\na\n  b\nc\nd\n```"

    def test_a_table_is_kept_whole_with_its_header_row(self) -> None:
        extracted = read_html("<table><caption>Cap<tr><th>k<th>v<tr><td>a<td><p>1</p><p>2|3</p></table>after")
        assert extracted.text == "Cap\n\n| k | v |\n| --- | --- |\n| a | 1 2\\|3 |\n\nafter"
        (block,) = extracted.outline.blocks
        assert block.header_end is not None
        assert extracted.text[block.start : block.header_end] == "| k | v |\n| --- | --- |\n"

    def test_cells_that_span_columns_and_rows_are_written_once_in_their_column(self) -> None:
        page = "<table><thead><tr><td colspan=2>A<td>B</thead><tr><td rowspan=2>x<td>1<td>2<tr><td>3<td>4</table>"
        assert text_of(page) == "| A |  | B |\n| --- | --- | --- |\n| x | 1 | 2 |\n|  | 3 | 4 |"

    def test_a_table_for_the_layout_is_no_table(self) -> None:
        extracted = read_html("<table><tr><td><h2>Head</h2>Text<td><p>Column</table>")
        assert extracted.text == "## Head\n\nText\n\nColumn"
        assert read_html("<table role=presentation><tr><td>a<td>b</table>").text == "a\n\nb"

    def test_lists_are_kept_whole_and_item_by_item(self) -> None:
        extracted = read_html("<p>x</p><ul><li>a<ul><li>b</ul><li><p>c</p><p>d</p></ul><ol start=3><li>e<li>f</ol>")
        assert extracted.text == "x\n\n- a\n  - b\n- c\n\n  d\n\n3. e\n4. f"
        assert blocks_of(extracted) == ["- a\n  - b\n- c\n\n  d\n", "- a\n  - b\n", "- c\n\n  d\n", "3. e\n4. f"]

    def test_a_heading_in_an_item_is_a_heading(self) -> None:
        assert headings_of(read_html("<ul><li><h3>Card</h3><p>text</ul>")) == [(3, "Card")]

    def test_words_in_neighbouring_elements_stay_apart_only_where_a_reader_sees_it(self) -> None:
        page = "<span>on</span><b>e</b> <a>two</a><a>three</a><p>four</p>five<br>six<x-y>seven</x-y>"
        assert text_of(page) == "one two three\n\nfour\n\nfive\nsix seven"

    def test_an_element_is_what_its_style_and_its_role_make_it(self) -> None:
        assert text_of('shares at $<div style="display:inline;"><span>5.22</span></div> per share') == "shares at $5.22 per share"
        extracted = read_html('<div role="heading" aria-level="3">Head</div><p>text</p>')
        assert headings_of(extracted) == [(3, "Head")]

    def test_two_breaks_end_a_paragraph(self) -> None:
        assert text_of("a<br>b<br><br>c") == "a\nb\n\nc"

    def test_what_an_image_shows_is_text_if_it_is_more_than_a_name(self) -> None:
        assert text_of('<img alt="Flow of a request"> x <img alt="logo">') == "Flow of a request x"

    def test_places_where_a_word_may_break_do_not_part_it(self) -> None:
        assert text_of("soft&shy;hyphen zero&#8203;width wo<wbr>rd") == "softhyphen zerowidth word"


class TestSource:
    def test_each_line_says_which_line_of_the_file_it_comes_from(self) -> None:
        page = "<html>\n<body>\n<h1>\n Head\n</h1><p>first\nsecond <b>\nthird</b>\n<pre>\ncode1\ncode2</pre>\n"
        page += "<table><tr><td>a<td>b\n<tr><td>c<td>d"
        extracted = read_html(page)
        lines = page.split("\n")
        for word in ("Head", "first", "second", "third", "code1", "code2", "| a", "| c"):
            assert word.strip("| ") in lines[line_of(extracted, word) - 1]

    def test_lines_are_in_order_though_text_is_moved_out_of_a_table(self) -> None:
        lines = read_html("<table><tr><td>a<td>b</tr>\n\nmoved\n<tr><td>c<td>d</table>").source_lines
        assert lines is not None
        assert list(lines) == sorted(lines)


class TestAbout:
    def test_a_page_says_its_title_language_dates_and_author(self) -> None:
        extracted = read_html(
            '<html lang="de-AT"><title>Real\n title &amp; more</title><meta name="Author" content="Ada">'
            '<meta property="article:published_time" content="2024-01-02T03:04:05Z"><meta name=keywords content="a, b">'
            '<meta property="og:description" content="What it says"><h1>Other</h1>'
        )
        assert extracted.title == "Real title & more"
        assert extracted.language == "de"
        assert extracted.metadata == {
            "author": "Ada",
            "date": "2024-01-02T03:04:05Z",
            "keywords": ["a", "b"],
            "description": "What it says",
        }

    def test_dates_may_stand_in_data_for_search_engines(self) -> None:
        page = '<script type="application/ld+json">{"datePublished": "2024-01-02", "dateModified":"2024-02-03"}</script><p>x'
        assert read_html(page).metadata == {"date": "2024-01-02", "modified": "2024-02-03"}
        assert text_of(page) == "x"

    @pytest.mark.parametrize(
        ("page", "title"),
        [
            ("<h1>Head</h1>", "Head"),
            ('<meta property="og:title" content="Shared"><h1>Head</h1>', "Shared"),
            ("<title> </title><h1>Head</h1>", "Head"),
            ("<svg><title>Icon</title></svg><p>x", ""),
            ("<title>Never closed<p>x", "Never closed"),
        ],
    )
    def test_a_page_without_a_title_is_called_by_its_first_heading(self, page: str, title: str) -> None:
        assert read_html(page).title == title
