"""Names of RTF: what control words stand for, which groups hold text, and in which code pages fonts are."""

from typing import Final

SYMBOLS: Final = {"~": " ", "_": "-", "\\": "\\", "{": "{", "}": "}"}
CHARACTERS: Final = {
    "tab": "\t",
    "emdash": "—",
    "endash": "–",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "nestcell": " ",
}
PARAGRAPH_ENDS: Final = frozenset(["par", "line", "sect", "page", "column", "nestrow", "softline"])
#: Groups that are no part of the text.
_LEFT_OUT_WORDS: Final = """
    colortbl listtable listoverridetable revtbl rsidtbl pict nonshppict objdata objclass objname header headerl headerr headerf
    footer footerl footerr footerf ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn fldinst datafield themedata colorschememapping
    datastore latentstyles filetbl generator xmlnstbl mmathpr pgdsctbl bkmkstart bkmkend tc tcn xe rxe txe private1 template
    background sp blipuid panose falt annotation atnid atnauthor atnref atntime atndate atnicn formfield userprops docvar pnseclvl
    pn listpicture htmltag mhtmltag wgrffmtfilter
"""
LEFT_OUT: Final = frozenset(_LEFT_OUT_WORDS.split())
#: Groups that readers may leave out and that hold text nevertheless.
TEXT_GROUPS: Final = frozenset(["shpinst", "shptxt", "ud", "shppict"])
INFO: Final = {"title": "title", "author": "author", "subject": "subject", "keywords": "keywords", "doccomm": "description"}
CODE_PAGES: Final = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
#: By the character set of a font.
FONT_CODE_PAGES: Final = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258",
    177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip
