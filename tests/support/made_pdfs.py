"""PDF files for tests, drawn when they are needed."""

import io
from collections.abc import Callable

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

Draw = Callable[[Canvas], None]


def pdf(*pages: Draw, password: str | None = None, owner: str | None = None) -> bytes:
    """A PDF of A4 pages; with ``password`` nobody else opens it, with ``owner`` anybody may read it."""
    buffer = io.BytesIO()
    encryption = None
    if password is not None or owner is not None:
        encryption = StandardEncryption(password or "", owner or "owner", canPrint=0)
    canvas = Canvas(buffer, invariant=1, encrypt=encryption)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def lines(*texts: str, left: float = 72, top: float = 760, size: float = 11, leading: float = 14) -> Draw:
    """A page with lines one below the other."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", size)
        for place, text in enumerate(texts):
            canvas.drawString(left, top - place * leading, text)

    return draw


def together(*draws: Draw) -> Draw:
    """All of them on one page."""

    def draw(canvas: Canvas) -> None:
        for one in draws:
            one(canvas)

    return draw


def picture(canvas: Canvas) -> None:
    """A page that is a picture."""
    from PIL import Image

    canvas.drawImage(ImageReader(Image.new("RGB", (60, 80), "white")), 0, 0, 595, 842)


def chinese_and_japanese(canvas: Canvas) -> None:
    """Lines in fonts that the file only names."""
    for name, text, top in (("STSong-Light", "分布式文档索引系统使用说明", 750), ("HeiseiMin-W3", "全文検索エンジンの設定方法", 720)):
        pdfmetrics.registerFont(UnicodeCIDFont(name))
        canvas.setFont(name, 14)
        canvas.drawString(72, top, text)


def bookmarked(title: str, level: int, draw: Draw) -> Draw:
    """A page to which a bookmark leads."""

    def drawn(canvas: Canvas) -> None:
        canvas.bookmarkPage(title)
        canvas.addOutlineEntry(title, title, level)
        draw(canvas)

    return drawn
