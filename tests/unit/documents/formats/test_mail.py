"""Mail: headers, parts, encodings, and mail that is broken."""

from email.message import EmailMessage

import pytest

from docmill.documents.extracted import Extracted
from docmill.documents.formats.mail import read_mail
from docmill.documents.formats.mail_headers import decoded_bytes, header_text
from docmill.documents.loading import load
from docmill.domain.documents import LoadedDocument


def message(text: str = "Hällo\n\nplain text\n", **headers: str) -> EmailMessage:
    mail = EmailMessage()
    for name, value in {"Subject": "Grüße — Rechnung", "From": "Jörg <j@x.de>", "To": "a@b.c", **headers}.items():
        mail[name] = value
    mail.set_content(text)
    return mail


def lines_of(extracted: Extracted | LoadedDocument, content: bytes) -> dict[str, str]:
    """Each line of the text with the line of the file that it says it comes from."""
    assert extracted.source_lines is not None
    file = content.decode("latin-1").replace("\r\n", "\n").split("\n")
    return {line: file[source - 1] for line, source in zip(extracted.text.split("\n"), extracted.source_lines, strict=True)}


def test_a_message_is_its_subject_its_people_and_its_text() -> None:
    document = load("a.eml", message(Date="Fri, 15 Sep 2023 07:23:55 +0000", Cc="d@e.f").as_bytes())
    assert document.text == (
        "# Grüße — Rechnung\n\nFrom: Jörg <j@x.de>\nTo: a@b.c\nCc: d@e.f\nDate: Fri, 15 Sep 2023 07:23:55 +0000\n\nHällo\n\nplain text"
    )
    assert document.title == "Grüße — Rechnung"
    assert document.metadata["from"] == "Jörg <j@x.de>"
    assert document.metadata["to"] == "a@b.c"
    assert document.metadata["date"] == "2023-09-15T07:23:55+00:00"


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_the_lines_of_the_text_are_those_of_the_file(ends: bytes) -> None:
    content = message("first\n\n" + "long " * 40 + "end\nfür alle\n").as_bytes().replace(b"\n", ends)
    found = lines_of(read_mail(content), content)
    assert found["first"] == "first"
    assert found["für alle"] == "f=C3=BCr alle"


def test_the_text_part_is_read_and_not_the_page_that_says_the_same() -> None:
    mail = message()
    mail.add_alternative("<p>Hällo UNUSED</p>", subtype="html")
    assert "plain text" in read_mail(mail.as_bytes()).text
    assert "UNUSED" not in read_mail(mail.as_bytes()).text


def test_a_page_is_read_where_the_text_part_says_next_to_nothing() -> None:
    mail = message("Please enable HTML.")
    mail.add_alternative(f"<h2>News</h2><p>{'What the mail says. ' * 20}</p>", subtype="html")
    extracted = read_mail(mail.as_bytes())
    assert "What the mail says." in extracted.text
    assert [heading.text for heading in extracted.outline.headings] == ["Grüße — Rechnung", "News"]


def test_a_mail_without_a_text_part_is_read_as_a_page_with_its_tables() -> None:
    mail = EmailMessage()
    mail["Subject"] = "x"
    mail.set_content("<p>Only\n<b>page</b></p><table><tr><th>a<th>b<tr><td>1<td>2</table><p hidden>UNUSED</p>", subtype="html", cte="8bit")
    content = mail.as_bytes()
    extracted = read_mail(content)
    assert "UNUSED" not in extracted.text
    assert "page" in lines_of(extracted, content)["page"]
    (block,) = extracted.outline.blocks
    assert block.header_end is not None
    assert extracted.text[block.start : block.end] == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_attachments_are_named_and_not_read() -> None:
    mail = message()
    mail.add_attachment(b"%PDF UNUSED", maintype="application", subtype="pdf", filename="Überweisung.pdf")
    mail.add_attachment("UNUSED", filename="notes.txt")
    extracted = read_mail(mail.as_bytes())
    assert extracted.text.endswith("Attachments: Überweisung.pdf, notes.txt")
    assert extracted.metadata["attachments"] == ["Überweisung.pdf", "notes.txt"]
    assert "UNUSED" not in extracted.text


def test_a_forwarded_message_is_a_section_of_its_own() -> None:
    inner = message("inner text", Subject="Inner")
    inner.add_attachment(b"x", maintype="image", subtype="png", filename="x.png")
    outer = message("see below", Subject="Outer")
    outer.add_attachment(inner)
    extracted = read_mail(outer.as_bytes())
    assert [(heading.level, heading.text) for heading in extracted.outline.headings] == [(1, "Outer"), (2, "Inner")]
    assert extracted.text.index("see below") < extracted.text.index("Inner") < extracted.text.index("inner text")
    assert extracted.title == "Outer"


def test_messages_that_were_forwarded_many_times_are_read_to_the_first() -> None:
    mail = message("text 0", Subject="Subject 0")
    for number in range(1, 12):
        outer = message(f"text {number}", Subject=f"Subject {number}")
        outer.add_attachment(mail)
        mail = outer
    extracted = read_mail(mail.as_bytes())
    assert [heading.level for heading in extracted.outline.headings] == [1, 2, 3, 4, *[5] * 8]
    assert all(f"text {number}\n" in f"{extracted.text}\n" for number in range(12))


def test_a_report_of_failed_delivery_says_why() -> None:
    content = (
        b"From: daemon\nSubject: Undelivered\nMIME-Version: 1.0\nContent-Type: multipart/report; boundary=b\n\n--b\n\nSorry.\n"
        b"--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nFinal-Recipient: rfc822; a@b.c\n"
        b"Diagnostic-Code: smtp; 550 no such user\n"
        b"\n--b\nContent-Type: message/rfc822\n\nSubject: Original\n\nBody.\n--b--\n"
    )
    text = read_mail(content).text
    assert "550 no such user" in text
    assert "Original" in text
    assert "Body." in text


def test_a_mailbox_is_its_messages() -> None:
    content = b"".join(b"From a@b.c Mon Jan  1 00:00:00 2024\nSubject: Number %d\n\nbody %d\n>From here\n\n" % (n, n) for n in range(3))
    document = load("inbox.mbox", content)
    assert [heading.text for heading in document.outline.headings] == ["Number 0", "Number 1", "Number 2"]
    assert lines_of(document, content)["body 2"] == "body 2"
    assert "From a@b.c" not in document.text


def test_a_saved_web_page_is_read_as_its_page() -> None:
    content = (
        b"From: <Saved>\nSubject: Page\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\n"
        b"Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n<p class=3Dx>caf=C3=A9 and =\nmore</p>\n"
        b"--b\nContent-Type: text/css\n\nUNUSED\n--b--\n"
    )
    text = load("a.mhtml", content).text
    assert "café and more" in text
    assert "UNUSED" not in text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("=?iso-8859-8-i?B?+ezl7Q==?=", "שלום"),
        ("=?gb2312?B?xOO6ww==?=", "你好"),
        ("=?utf-8?B?Z3LD?= =?utf-8?B?vMOfZQ==?=", "grüße"),
        ("a =?utf-8?Q?b?= c", "a b c"),
        ("=?no-such-set?Q?abc?=", "abc"),
        ("=?utf-8?B?!!!?=", "=?utf-8?B?!!!?="),
        ("a\n  folded\n\tline", "a folded line"),
        ("Grüße".encode().decode("latin-1"), "Grüße"),
        ("à =?x".encode().decode("latin-1"), "à =?x"),
        ("=?utf-8?Q?" * 10_000, None),
    ],
)
def test_headers_are_decoded_however_they_are_written(raw: str, text: str | None) -> None:
    found = header_text(raw)
    assert text is None or found == text


@pytest.mark.parametrize(
    ("charset", "content"),
    [
        ("iso-8859-8-i", "שלום".encode("iso-8859-8")),
        ("utf-8", "שלום".encode()),
        ("unknown-8bit", "שלום".encode()),
        ("no such", "שלום".encode()),
        ("base64", "שלום".encode()),
        ("undefined", "שלום".encode()),
        ("idna", "שלום".encode()),
        ("", "שלום".encode()),
        ('"Windows-1255"', "שלום".encode("cp1255")),
    ],
)
def test_bytes_are_decoded_though_their_character_set_is_wrong_or_missing(charset: str, content: bytes) -> None:
    assert decoded_bytes(content, charset) == "שלום"


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"Subject: a\nContent-Type: multipart/mixed\n\nno boundary NEEDLE", "NEEDLE"),
        (b"Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nNEEDLE never ends", "NEEDLE"),
        (b"Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>NEEDLE", "NEEDLE"),
        (b"Subject: a\nContent-Transfer-Encoding: base64\n\nTkVFRExF!!\n", "NEEDLE"),
        (b"Subject: a\nContent-Transfer-Encoding: base64\n\nthis is not at all base64, NEEDLE!!! ....", "NEEDLE"),
        (b"Subject: a\nContent-Transfer-Encoding: x-odd\n\nNEEDLE", "NEEDLE"),
        (b"Subject: a\nContent-Type: text/plain; charset*=x''utf-8\n\nNEEDLE", "NEEDLE"),
        (b"Subject: a\nContent-Type: garbage\n\nNEEDLE", "NEEDLE"),
        (b"Subject: a\nContent-Type: text/plain; charset=utf-16\n\nNEEDLE\xff\xfe", "NEEDLE"),
        (b"Subject: NEEDLE", "NEEDLE"),
        (b"\n\nSubject: a\n\nNEEDLE", "NEEDLE"),
        (b"no headers, only NEEDLE\n\nand more", "NEEDLE"),
        (b"Content-Type: message/rfc822\n\n" * 3000 + b"x", ""),
        (
            b"Subject: a\n"
            + b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(3000))
            + b"\nNEEDLE",
            "NEEDLE",
        ),
        (b"3121\nSubject: a\n\nNEEDLE", "NEEDLE"),
        (b"", ""),
    ],
)
def test_a_broken_message_is_read_as_far_as_it_goes(content: bytes, word: str) -> None:
    assert word in read_mail(content).text
