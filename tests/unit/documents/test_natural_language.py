import pytest

from docmill.documents.loading import load
from docmill.documents.natural_language import language_code, language_of

TEXTS = {
    "de": "Die Größe der Häuser überrascht viele Besucher, die zum ersten Mal nach München fahren und nicht wissen, was auf sie wartet.",
    "en": "The size of the houses is a surprise for many visitors who come to this town and do not know what it is like.",
    "fr": "La taille des maisons est une surprise pour les visiteurs qui ne sont pas prêts, et il se peut que ce soit le cas de tous.",
    "es": "El tamaño de las casas es una sorpresa para los visitantes que no saben lo que les espera en la ciudad y por la calle.",
    "it": "La dimensione delle case è una sorpresa per i visitatori che non sono mai stati in città e non si aspettano di vederle.",
    "pt": "O tamanho das casas é uma surpresa para os visitantes que não sabem o que os espera na cidade, mas também para os outros.",
    "nl": "De grootte van de huizen is een verrassing voor de bezoekers die niet weten wat er in de stad te zien is.",
    "sv": "Storleken på husen är en överraskning för besökare som inte vet vad som väntar dem i staden och som kan bli sena.",
    "da": "Størrelsen på husene er en overraskelse for dem, der ikke ved, hvad de kan se i byen, og jeg blev også meget glad for det.",
    "nb": "Størrelsen på husene er en overraskelse for dem som ikke vet hva de kan se i byen, og jeg ble også glad for å se deg nå.",
    "pl": "Wielkość domów jest zaskoczeniem dla wielu osób, które nie wiedzą, co na nich czeka w mieście, ale to się zmienia.",
    "cs": "Velikost domů je pro návštěvníky překvapením, protože nevědí, co je ve městě čeká, a to je podle nich také to, co je láká.",
    "ru": "Размер домов удивляет многих гостей, которые не знают, что их ждёт в городе, но это так и для тех, кто был здесь.",
    "uk": "Розмір будинків дивує гостей, які не знають, що на них чекає в місті, але це так і для тих, хто вже був тут.",
    "tr": "Evlerin büyüklüğü bu şehre gelen ve ne göreceğini bilmeyen çok sayıda kişi için bir sürpriz, ama daha sonra değil.",
    "ar": "حجم البيوت مفاجأة لكثير من الزوار الذين لا يعرفون ما ينتظرهم في المدينة، لكن هذا هو الحال مع كل من كان هنا.",
    "el": "Το μέγεθος των σπιτιών εκπλήσσει τους επισκέπτες.",
    "he": "גודל הבתים מפתיע את המבקרים.",
    "hi": "घरों का आकार आगंतुकों के लिए एक आश्चर्य है।" * 2,
    "ja": "家の大きさは、訪れる人を驚かせます。",
    "ko": "집의 크기는 방문객을 놀라게 합니다.",
    "th": "ขนาดของบ้านทำให้ผู้มาเยือนประหลาดใจ",
    "zh": "房子的大小让游客感到惊讶。",
    "vi": "Kích thước của các ngôi nhà là một bất ngờ cho những người không biết điều gì đang chờ họ trong thành phố này.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_prose_has_the_language_that_it_is_written_in(language: str) -> None:
    assert load("a.md", TEXTS[language].encode()).language == language


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Köln",
        "12 34 56",
        "foo bar baz " * 30,
        "alpha;beta;gamma\n1;2;3\n",
        "der die das",
        "der die das " * 20,
        "INFO server started on port 80\n" * 20,
    ],
)
def test_nothing_is_said_of_a_text_that_does_not_tell(text: str) -> None:
    assert language_of(text) is None


def test_front_matter_tells_what_the_text_does_not() -> None:
    assert load("a.md", b"---\nlang: de-AT\n---\nJa.\n").language == "de"


def test_front_matter_is_no_prose() -> None:
    assert load("a.md", f"---\nsummary: {TEXTS['de']}\n---\n{TEXTS['en']}\n".encode()).language == "en"


def test_code_has_its_programming_language_whatever_its_comments_are_written_in() -> None:
    assert load("a.py", f"# {TEXTS['de']}\n".encode()).language == "python"


@pytest.mark.parametrize(
    ("declared", "code"), [("de", "de"), ("en_US", "en"), ("ZH-Hant", "zh"), ("german", None), ("xx", None), ("", None), (7, None)]
)
def test_a_declared_language_is_known_by_its_code(declared: object, code: str | None) -> None:
    assert language_code(declared) == code
