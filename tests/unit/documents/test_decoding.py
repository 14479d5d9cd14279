"""Texts in the encodings of twenty languages, from a line to a page."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.documents.decoding import decode
from docmill.domain.errors import DocumentSkipped, SkipReason

_RUSSIAN = "Поиск документов работает быстрее, если пользователь указывает язык. Дети бегут через мост к реке.\n"
_POLISH = "Wyszukiwanie dokumentów działa szybciej, jeśli użytkownik określi język i ścieżkę do pliku.\n"
_CZECH = "Vyhledávání dokumentů je rychlejší, když uživatel určí jazyk. Děti běží přes most k řece.\n"
_GERMAN = "Die Größe der Häuser überrascht viele Besucher, die zum ersten Mal nach München fahren.\n"
_FRENCH = "Les élèves préparent leur dîner à la cantine, où le garçon apprend très vite.\n"
_JAPANESE = "利用者が言語とファイルの場所を指定すると、文書の検索はより速くなります。\n"
_CHINESE = "如果用户指定语言和文件路径，文档检索会更快。孩子们跑向河边。\n"
_TRADITIONAL = "如果使用者指定語言和檔案路徑，文件檢索會更快。孩子們跑向河邊。\n"
_KOREAN = "사용자가 언어와 파일 경로를 지정하면 문서 검색이 더 빨라집니다.\n"
TEXTS = [
    ("cp1252", _FRENCH),
    ("cp1252", _GERMAN),
    ("cp1252", "El niño pequeño soñó con una montaña. ¿Dónde está la configuración? Mañana habrá una reunión.\n"),
    ("cp1252", "A informação não está disponível na página da organização; amanhã haverá uma reunião.\n"),
    ("cp1252", "Perché la città è così bella? La libertà e l’onestà sono qualità, però è difficile dirlo.\n"),
    ("cp1252", "Många människor går över bron för att nå den lilla ön där vännerna bor.\n"),
    ("cp1252", "Børnene går på den grønne vej og køber æbler på torvet, når året er gået.\n"),
    ("cp1252", "Tämä järjestelmä käyttää päivitettyä sanakirjaa, jossa on enemmän hakusanoja.\n"),
    ("mac_roman", _GERMAN),
    ("cp850", _GERMAN),
    ("cp1250", _POLISH),
    ("iso8859-2", _POLISH),
    ("cp852", _POLISH),
    ("cp1250", _CZECH),
    ("cp1250", "Az öt hűtőházból kértünk színhúst, ezért holnap délután újra eső várható.\n"),
    ("cp1251", _RUSSIAN),
    ("koi8-r", _RUSSIAN),
    ("cp866", _RUSSIAN),
    ("iso8859-5", _RUSSIAN),
    ("mac_cyrillic", _RUSSIAN),
    ("cp1251", "Пошук документів працює швидше, якщо користувач вказує мову та шлях до файлу.\n"),
    ("cp1253", "Η αναζήτηση εγγράφων λειτουργεί πιο γρήγορα όταν ο χρήστης ορίζει τη γλώσσα.\n"),
    ("cp737", "Η αναζήτηση εγγράφων λειτουργεί πιο γρήγορα όταν ο χρήστης ορίζει τη γλώσσα.\n"),
    ("iso8859-3", "La serĉado estas pli rapida, se la uzanto indikas ĝuste la lingvon kaj ankaŭ la dosierujon, ĉar ĝi estas granda.\n"),
    ("cp1254", "Kullanıcı dili belirtirse belge araması daha hızlı çalışır. Çocuklar köprüden geçip ırmağa koşuyor.\n"),
    ("cp1255", "חיפוש מסמכים עובד מהר יותר אם המשתמש מציין את השפה.\n"),
    ("cp1256", "البحث عن الوثائق يعمل بشكل أسرع إذا حدد المستخدم اللغة.\n"),
    ("cp1257", "Dokumentų paieška veikia greičiau, jei naudotojas nurodo kalbą ir kelią iki failo. Vaikai bėga per tiltą.\n"),
    ("cp874", "การค้นหาเอกสารจะเร็วขึ้นหากผู้ใช้ระบุภาษาและเส้นทางของไฟล์\n"),
    ("shift_jis", _JAPANESE),
    ("euc_jp", _JAPANESE),
    ("iso2022_jp", _JAPANESE),
    ("euc_kr", _KOREAN),
    ("gb18030", _CHINESE),
    ("big5", _TRADITIONAL),
]
_ENGLISH = "The heading of this section says that the quotation is in another language.\n"


def text_of(content: bytes, *, known_as_text: bool = True) -> str:
    return decode(content, known_as_text=known_as_text)


@pytest.mark.parametrize(("encoding", "text"), TEXTS)
@pytest.mark.parametrize("form", ["{text}", "{text}{text}{text}{text}", "{english}{english}{text}{english}{english}{english}"])
def test_a_text_in_an_old_code_page_is_read_in_it(encoding: str, text: str, form: str) -> None:
    whole = form.format(text=text, english=_ENGLISH)
    assert text_of(whole.encode(encoding)) == whole


@pytest.mark.parametrize(
    "text",
    [
        "© 2024 ACME",
        "5 °C",
        "£5 only",
        "½ cup",
        "it’s",
        "“quoted”",
        "Köln",
        "café",
        "Zoë",
        "MÜLLER",
        "x – y",
        "€ 30",
        "±5%",
        "50 µm",
        "10 m²",
        "2º",
    ],
)
def test_a_word_or_a_sign_is_read_as_windows_1252(text: str) -> None:
    assert text_of(text.encode("cp1252")) == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1251", "Привет"),
        ("koi8-r", "# привет, мир"),
        ("cp866", "Привет, мир"),
        ("cp1250", "zażółć"),
        ("shift_jis", "こんにちは"),
        ("gb18030", "文档检索"),
        ("euc_kr", "안녕하세요"),
        ("cp1253", "καλημέρα"),
        ("cp437", "╔══╗\n║ab║\n╚══╝\n"),
    ],
)
def test_a_few_letters_of_other_scripts_are_recognised(encoding: str, text: str) -> None:
    assert text_of(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [_CHINESE, _JAPANESE, _KOREAN, _RUSSIAN, _GERMAN, "one line\n", "中文 and English\n"])
def test_wide_encodings_need_no_mark(encoding: str, text: str) -> None:
    assert text_of((text * 3).encode(encoding), known_as_text=False) == text * 3


def test_lines_of_different_people_are_each_read_in_their_encoding() -> None:
    content = (
        "Änderung von Jürgen\n".encode()
        + b"plain\r\n"
        + "Änderung von Zoë\n".encode("cp1252")
        + "größer ✓\n".encode()
        + "Straße".encode("cp1252")
    )
    assert text_of(content) == "Änderung von Jürgen\nplain\nÄnderung von Zoë\ngrößer ✓\nStraße"


def test_a_chinese_word_that_is_utf_8_by_chance_is_chinese_among_others() -> None:
    text = "你好，世界。文档检索\n联通\n"
    assert text_of(text.encode("gb18030")) == text


def test_a_declared_encoding_is_read_as_browsers_read_it() -> None:
    text = "<meta charset=gb2312>〇镕囍"
    assert text_of(text.encode("gbk")) == text


@pytest.mark.parametrize("declared", ["koi8-r", "windows-1252", "shift_jis", "gb18030"])
def test_a_declared_encoding_that_makes_no_text_is_not_believed(declared: str) -> None:
    text = f"<meta charset={declared}>\n{_RUSSIAN}"
    assert text_of(text.encode("cp1251")) == text


def test_a_declared_encoding_decides_where_a_word_could_be_in_several() -> None:
    text = "# coding: cp1250\nx = 'čí'\n"
    assert text_of(text.encode("cp1250")) == text


@pytest.mark.parametrize(
    ("encoding", "text"), [("shift_jis", _JAPANESE), ("gb18030", _CHINESE), ("euc_kr", _KOREAN), ("big5", _TRADITIONAL)]
)
def test_one_broken_byte_does_not_spoil_an_east_asian_text(encoding: str, text: str) -> None:
    whole = text * 3
    read = text_of(text.encode(encoding) + b"\x85\n" + (text * 2).encode(encoding))
    assert read.replace("\ufffd", "").replace("\n", "") == whole.replace("\n", "")


def test_bytes_that_are_no_text_in_any_encoding_are_named_as_such() -> None:
    content = bytes(32 + (place * 7919 + place * place * 31) % 224 for place in range(4000)).replace(b"\x7f", b"")
    with pytest.raises(DocumentSkipped, match="in an encoding that is not known") as skipped:
        text_of(content)
    assert skipped.value.reason is SkipReason.BINARY


def test_a_long_line_with_one_strange_byte_at_its_end_is_read() -> None:
    assert text_of(b"word " * 100_000 + b"caf\xe9") == "word " * 100_000 + "café"


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF8])
def test_a_mark_alone_is_an_empty_text(mark: bytes) -> None:
    assert text_of(mark) == ""


@given(st.binary(max_size=400), st.booleans())
def test_whatever_the_bytes_they_are_a_text_that_can_be_encoded_or_skipped(content: bytes, known_as_text: bool) -> None:
    try:
        text = text_of(content, known_as_text=known_as_text)
    except DocumentSkipped:
        return
    assert not {"\0", "\r"} & set(text)
    text.encode()


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"])))
def test_valid_utf_8_is_read_as_it_is(text: str) -> None:
    assert text_of("Mark: ✓\n".encode() + text.encode()) == "Mark: ✓\n" + text
