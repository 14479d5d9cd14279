import pytest

from docmill.documents.formats.latex import plain_text
from docmill.documents.formats.latex import read_latex as read

PAPER = r"""\documentclass{article}
% a comment
\usepackage{x}
\title[Short]{On \emph{Stores} \& 100\% Recall\thanks{us}}
\author{Zo\"e Doe \and J\'er\^ome K.}
\date{1 March 2024}
\begin{document}
\maketitle
\section{First} % why
text 50\% done
% only a comment
\subsection*{In {\bf it}}
\begin{verbatim}
% kept \section{no}
\end{verbatim}
\section[S]{A title
 on two lines}
\begin{tabular}{ll}
a & b \\ \midrule
1 & 2 \\
3 & 4
\end{tabular}
\end{document}
"""


def test_sections_have_their_levels_and_words() -> None:
    assert [(heading.level, heading.text) for heading in read(PAPER).outline.headings] == [
        (3, "First"),
        (4, "In it"),
        (3, "A title on two lines"),
    ]


def test_the_preamble_says_what_the_document_is() -> None:
    extracted = read(PAPER)
    assert extracted.title == "On Stores & 100% Recall"
    assert dict(extracted.metadata) == {"author": ["Zoë Doe", "Jérôme K."], "date": "1 March 2024"}
    assert extracted.text[extracted.body_start :].startswith("\\maketitle\n")


def test_comments_are_left_out_and_lines_keep_their_numbers() -> None:
    extracted = read(PAPER)
    lines = extracted.text.split("\n")
    assert "comment" not in extracted.text
    assert "text 50\\% done" in lines
    assert extracted.source_lines is not None
    file_lines = PAPER.split("\n")
    assert all(file_lines[number - 1].startswith(line.rstrip()) for line, number in zip(lines, extracted.source_lines, strict=True))


def test_what_is_commented_out_or_stands_after_the_end_is_left_out() -> None:
    commented = "\\begin{comment}\nno \\section{No}\n\\end{comment}\n"
    extracted = read(f"\\section{{A}}\n{commented}one \\begin{{comment}}\nno\n\\end{{comment}}\n\\section{{B}}\n\\end{{document}}\nno\n")
    assert extracted.text == "\\section{A}\none\n\\section{B}\n\\end{document}"
    assert extracted.source_lines == [1, 5, 8, 9]
    assert [heading.text for heading in extracted.outline.headings] == ["A", "B"]
    assert read("one\n\\begin{comment}\nnever closed\n").text == "one\n\\begin{comment}\nnever closed\n"


def test_what_is_verbatim_is_kept_as_it_is_and_whole() -> None:
    extracted = read(PAPER)
    blocks = [extracted.text[block.start : block.end] for block in extracted.outline.blocks]
    assert blocks[0] == "\\begin{verbatim}\n% kept \\section{no}\n\\end{verbatim}\n"


def test_the_header_of_a_table_ends_at_its_rule() -> None:
    extracted = read(PAPER)
    table = extracted.outline.blocks[1]
    assert extracted.text[table.start : table.header_end] == "\\begin{tabular}{ll}\na & b \\\\ \\midrule\n"


def test_a_part_of_a_document_has_no_preamble() -> None:
    extracted = read("\\chapter{Two}\ntext\n")
    assert (extracted.body_start, extracted.title, extracted.source_lines) == (0, "Two", None)


@pytest.mark.parametrize(
    ("latex", "words"),
    [
        (r"\texttt{a\_b} and~c", "a_b and c"),
        (r"{\'E}cole \c{c}a", "École ça"),
        (r"Title\label{sec:x} \cite{y}", "Title"),
        ("a---b ``q''", "a—b “q”"),
    ],
)
def test_titles_are_shown_without_commands(latex: str, words: str) -> None:
    assert plain_text(latex) == words


@pytest.mark.parametrize("text", ["\\section{" * 200_000, "\\begin{itemize}" * 100_000, "\\end{itemize}" * 100_000, "\\title{" * 200_000])
def test_what_is_never_closed_takes_no_long_time(text: str) -> None:
    assert not read(text).outline.headings
