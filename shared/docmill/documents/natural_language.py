"""The natural language of prose, as ISO 639-1: told by its script or by the small words of every sentence, and only when that is sure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Final

_ISO_639_1: Final = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es et eu fa
ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr
ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl
ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur
uz ve vi vo wa wo xh yi yo za zh zu
"""
_CODES: Final = frozenset(_ISO_639_1.split())


def language_code(declared: object) -> str | None:
    """The ISO 639-1 code in what a document declares, such as ``de`` in ``de-AT``; None where there is none."""
    if not isinstance(declared, str):
        return None
    code = declared.strip().replace("_", "-").partition("-")[0].lower()
    return code if code in _CODES else None


#: Scripts in which one language is written, or nearly so: the ranges of their letters.
_SCRIPTS: Final = (
    ("ja", "\u3041", "\u30ff"),
    ("ko", "\uac00", "\ud7a3"),
    ("zh", "\u4e00", "\u9fff"),
    ("el", "\u0370", "\u03ff"),
    ("hy", "\u0530", "\u058f"),
    ("he", "\u0590", "\u05ff"),
    ("bn", "\u0980", "\u09ff"),
    ("pa", "\u0a00", "\u0a7f"),
    ("gu", "\u0a80", "\u0aff"),
    ("or", "\u0b00", "\u0b7f"),
    ("ta", "\u0b80", "\u0bff"),
    ("te", "\u0c00", "\u0c7f"),
    ("kn", "\u0c80", "\u0cff"),
    ("ml", "\u0d00", "\u0d7f"),
    ("si", "\u0d80", "\u0dff"),
    ("th", "\u0e00", "\u0e7f"),
    ("lo", "\u0e80", "\u0eff"),
    ("bo", "\u0f00", "\u0fff"),
    ("my", "\u1000", "\u109f"),
    ("ka", "\u10a0", "\u10ff"),
    ("am", "\u1200", "\u137f"),
    ("km", "\u1780", "\u17ff"),
)
#: Small words of languages that share a script with others.
_SMALL_WORDS: Final = {
    "af": "die van en in is het nie wat vir op te dat dit om met hy sy ek was word deur sal kan ons hulle aan maar",
    "ar": "في من على أن إلى التي عن هذا مع هذه كان الذي ما لا هو هي بعد ذلك كل أو بين قد عند تم إذا",
    "be": "і у не на што з як гэта да ён для па але з якія быў ад яго каб калі таксама гэтага яна",
    "bg": "и на да в за се не от с са по това като е при до или което най има към който след ще беше",
    "ca": "de la que i el en a les els un per una amb és del al no es dels ha són més com aquest aquesta però també",
    "cs": "a v na se že je s o z do to ale jako i k pro by jsou by které který který při nebo jeho byl podle jsem není bylo",
    "da": "og i at er en det til af på for den med som de der ikke et har fra men kan jeg om skal blev sig efter også dig mig hvad meget",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus dass wird sind oder",
    "en": "the of and to in is that it for with as was are be this by on or from at not you have can which if when will has its",
    "eo": "la de kaj en estas al ne por ke kun li de la ĝi kiu estis pri sed aŭ kiel tiu de si plej",
    "es": "de la que el en y los se del las un por con no una su para es al lo como más o pero sus este son esta está",
    "et": "ja on ei et oma see ta kui aga ka mis oli nii või kes ning selle seda pole siis veel olid mida",
    "eu": "eta da ez bat du dira ere izan den dute dela egin bere baina hau edo zuen beste bere duen",
    "fa": "و در به از که این را با است برای آن یک خود تا بر هم نیز شده های شود می کرد بود یا",
    "fi": "ja on ei se että hän oli mutta kun ole ovat joka myös niin tai sen jos tämä voi mitä kuin hänen jotka",
    "fr": "de la le et les des en un une du est que dans qui pour par sur au plus ce pas ne sont avec il se aux cette ou à",
    "ga": "an na agus a ar is i le go ag bhí do sé ní den atá seo chun faoi mar níos sin",
    "gl": "de a o que e do da en os un unha para con non no na por máis as dos como ao das pola pero é son",
    "hi": "के है में की और से का को पर हैं यह भी कि एक नहीं ने लिए इस हो कर था जो तो",
    "hr": "i u je se na da su za od s koji koja kao te što ili ne iz ali će biti bi nije prema",
    "hu": "a az és hogy nem is egy van meg volt de ha csak ez mint vagy azt már el ezt kell lehet",
    "id": "yang dan di dari untuk dengan dalam ini itu pada adalah tidak akan ke oleh sebagai juga dapat atau ada lebih telah mereka",
    "is": "og að í er á sem til við um ekki en það af var með fyrir hann eru frá hefur þess því verið",
    "it": "di e il la che in un per non una sono con del da le si nel della i dei al come più gli alla delle anche è",
    "kk": "және мен бұл бір үшін де да осы болып бар деп еді оның болды туралы көп емес",
    "la": "et in est non ad ut cum quod sed qui ex ab quae si aut per esse etiam sunt",
    "lt": "ir yra kad su į iš kaip bet ne ar jis buvo tai už nuo jos jų šis kurie gali apie per dėl po",
    "lv": "un ir ar kas no par uz to tas bet vai nav kā arī bija tika lai pēc ka tiek šo ja",
    "mk": "и на во да се од за со е не што ќе како ги му беше по но или дека има кој",
    "mr": "आणि आहे या हे होते च ते की नाही व आहेत होता केले करण्यात एक ही झाली",
    "ms": "yang dan di untuk dengan ini itu dalam pada adalah tidak akan ke oleh kepada telah boleh ia daripada atau bagi",
    "nb": "og i det er på en at til som for av med ikke den har de et jeg fra men kan om vi skal ble seg etter også noe deg meg hva mye nå",
    "ne": "र छ को मा यो हो छन् पनि गर्न भएको लागि एक थियो गरेको",
    "nl": "de van een het en in is dat op te zijn met voor niet aan er om ook als dan maar bij nog wordt worden naar deze kan",
    "nn": "og i det er på ein at til som for av med ikkje den har dei eit var eg frå men kan om vi skal vart seg etter også vere noko",
    "pl": "w i na z do nie się że jest to o jak ale po co tak za od przez są dla jego był być lub czy może oraz tym który które",
    "pt": "de a o que e do da em um para com não uma os no se na por mais as dos como ao das pelo pela são ou seu é",
    "ro": "de și în a la cu pe nu este un o din care să ca mai pentru se sunt sau au fi prin dar cum al ale",
    "ru": "и в не на что с по как это из для к от у о а его но за при или же так все быть если может которые",
    "sk": "a v na sa že je s o z do to ale ako i k pre by sú ktoré ktorý pri alebo jeho bol podľa som nie bolo",
    "sl": "in je v na se da so za z ki pa ne s od tudi po bi kot ali če bil bila pri lahko ter iz",
    "sq": "të e në dhe për një me që i nga është si nuk më u do ka janë kjo ky por edhe",
    "sr": "и у је се на да су за од са који која као те што или не из али ће бити би није према",
    "sv": "och i att det som en på är av för med den till inte har de ett om var jag från men kan vi ska sig efter också eller",
    "sw": "na ya wa kwa ni katika za la kuwa hii cha hiyo yake alikuwa au pia ambayo watu kama",
    "tl": "ang ng sa na mga at ay si ito para kung hindi ni siya may isang nang din o mula",
    "tr": "ve bir bu da de için ile çok olarak daha olan gibi kadar ne var sonra en veya her değil ancak",
    "uk": "і в на не що з та як це до для у за від його але про при або якщо може які був також був є",
    "ur": "کے میں کی ہے اور سے کا کو اس نے پر یہ ہیں بھی نہیں ایک کر تھا لیے جو",
    "vi": "và của là có được cho trong một các không với người này để những khi từ đã về như cũng đến ra",
}
_LOOKED_AT_CHARACTERS: Final = 3000
#: Not ``\\w+``, which parts words of Indian scripts at their vowels.
_WORD: Final = re.compile(r"[^\s\d!-/:-@\[-`{-~¡¿«»‘’“”„…–—।،؛؟]+")
_FEWEST_LETTERS: Final = 8
_LEAST_OF_SCRIPT: Final = 0.5
_LEAST_KANA: Final = 0.08
#: Small words that must be there, how many different ones, their share of all words, and how many times as many as of any other language.
_FEWEST_SMALL_WORDS: Final = 5
_FEWEST_DIFFERENT: Final = 4
_LEAST_SMALL_WORDS: Final = 0.12
_AHEAD: Final = 1.15
#: Or so many that the other language does not have, and so many times as many as only it has.
_FEWEST_OWN: Final = 3


def _languages_by_word() -> dict[str, tuple[str, ...]]:
    languages: dict[str, tuple[str, ...]] = {}
    for language, words in _SMALL_WORDS.items():
        for word in set(words.split()):
            languages[word] = (*languages.get(word, ()), language)
    return languages


_LANGUAGES_BY_WORD: Final = _languages_by_word()


def language_of(text: str, start: int = 0) -> str | None:
    """The language of the text from ``start`` on, or of its beginning where it is long; None where it is not sure."""
    looked_at = text[start : start + _LOOKED_AT_CHARACTERS]
    if not looked_at.isascii():
        looked_at = unicodedata.normalize("NFC", looked_at)
        script = _by_script(looked_at)
        if script is not None:
            return script
    return _by_small_words(_WORD.findall(looked_at.lower()))


def _by_script(text: str) -> str | None:
    letters = Counter(filter(str.isalpha, text))
    total = sum(letters.values())
    if total < _FEWEST_LETTERS:
        return None
    counts = {name: sum(count for letter, count in letters.items() if first <= letter <= last) for name, first, last in _SCRIPTS}
    if counts["ja"] >= _LEAST_KANA * (counts["ja"] + counts["zh"]) and counts["ja"] + counts["zh"] >= _LEAST_OF_SCRIPT * total:
        return "ja"
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= _LEAST_OF_SCRIPT * total else None


def _by_small_words(words: list[str]) -> str | None:
    different = Counter(word for word in words if word in _LANGUAGES_BY_WORD)
    counts: Counter[str] = Counter()
    for word, count in different.items():
        for language in _LANGUAGES_BY_WORD[word]:
            counts[language] += count
    if not counts:
        return None
    (best, most), *others = counts.most_common()
    if most < _FEWEST_SMALL_WORDS or most < _LEAST_SMALL_WORDS * len(words):
        return None
    if sum(best in _LANGUAGES_BY_WORD[word] for word in different) < _FEWEST_DIFFERENT:
        return None
    near = [language for language, count in others if count * _AHEAD > most]
    return best if all(_differs(best, language, different) for language in near) else None


def _differs(best: str, other: str, words: Mapping[str, int]) -> bool:
    """Whether of two languages with many equal words one is told by those that only it has."""
    own = sum(count for word, count in words.items() if best in _LANGUAGES_BY_WORD[word] and other not in _LANGUAGES_BY_WORD[word])
    others = sum(count for word, count in words.items() if other in _LANGUAGES_BY_WORD[word] and best not in _LANGUAGES_BY_WORD[word])
    return own >= _FEWEST_OWN and own >= _FEWEST_OWN * others
