"""Whether an answer is in English: the keyword screen reads nothing else."""

from functools import cache
from typing import Any

#: Below this share of certainty a few words could be anything, and count as English.
_SURE = 0.25


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def other_language(text: str) -> str:
    """ISO 639-1 code of the language that ``text`` is in, "" for English or for what is too short to tell."""
    letters = [c for c in text if c.isalpha()]
    code, certainty = _identifier().classify(text)
    if code == "en" or not letters:
        return ""
    other_script = sum(not c.isascii() for c in letters) > 0.3 * len(letters)
    return str(code) if certainty >= _SURE or other_script else ""
