"""Declining: how docmill says by itself that the documents do not answer a question; pure."""

import re
from typing import Final

_ENGLISH: Final = "The documents do not cover this question."
#: By the script of the question; Chinese is asked for after Japanese, whose texts have both.
_BY_SCRIPT: Final = (
    (re.compile("[\u3040-\u30ff]"), "この質問は、文書には記載されていません。"),
    (re.compile("[\u4e00-\u9fff]"), "文档中没有涉及这个问题的内容。"),
    (re.compile("[\uac00-\ud7af]"), "문서에는 이 질문에 대한 내용이 없습니다."),
    (re.compile("[\u0400-\u04ff]"), "В документах нет ответа на этот вопрос."),
    (re.compile("[\u0370-\u03ff]"), "Τα έγγραφα δεν καλύπτουν αυτή την ερώτηση."),
    (re.compile("[\u0590-\u05ff]"), "המסמכים אינם עוסקים בשאלה זו."),
    (re.compile("[\u0600-\u06ff]"), "لا تتناول المستندات هذا السؤال."),
    (re.compile("[\u0900-\u097f]"), "दस्तावेज़ों में इस प्रश्न का उत्तर नहीं है।"),
    (re.compile("[\u0e00-\u0e7f]"), "เอกสารไม่ได้กล่าวถึงคำถามนี้"),
)
#: By words that questions of a language have, and those of its neighbours have not.
_BY_WORDS: Final = (
    (
        "de",
        "der die das und ist wie was wer wo wann warum welche welcher welches nicht ein eine für von mit",
        "Die Dokumente beantworten diese Frage nicht.",
    ),
    (
        "fr",
        "le la les est et comment quoi qui où quand pourquoi quel quelle quels quelles des une dans est-ce pour",
        "Les documents ne traitent pas de cette question.",
    ),
    ("es", "el los las es y cómo qué quién dónde cuándo por cuál cuáles una del para está hay", "Los documentos no tratan esta pregunta."),
    ("it", "il lo gli è e come cosa chi dove quando perché quale quali una della per di che", "I documenti non trattano questa domanda."),
    ("pt", "o os as é e como quê quem onde quando porquê qual quais uma do da para não são", "Os documentos não tratam desta pergunta."),
    ("nl", "de het een en is hoe wat wie waar wanneer waarom welke van niet voor met zijn", "De documenten gaan niet over deze vraag."),
    ("en", "the a an and is are how what who where when why which does do of for with in to can", _ENGLISH),
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def declining_text(question: str) -> str:
    """One sentence, in the language of ``question`` where its script or its small words tell that, else in English."""
    for script, sentence in _BY_SCRIPT:
        if script.search(question):
            return sentence
    words = _WORD.findall(question.lower())
    scores = {sentence: sum(word in known.split() for word in words) for _, known, sentence in _BY_WORDS}
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] else _ENGLISH
