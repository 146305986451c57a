"""IFEval's 25 rules, each a struct of its settings."""

import re
from typing import Annotated, Literal

import msgspec

from benchmarks.scoring import prose
from benchmarks.scoring.json_texts import NotJson, read_json

Relation = Literal["less than", "at least"]
Count = Annotated[int, msgspec.Meta(ge=0)]
Text = Annotated[str, msgspec.Meta(min_length=1)]
Texts = Annotated[list[Text], msgspec.Meta(min_length=1)]


class Rule(msgspec.Struct, forbid_unknown_fields=True):
    def is_kept(self, text: str) -> bool:
        raise NotImplementedError


def _holds(count: int, relation: Relation, limit: int) -> bool:
    return count < limit if relation == "less than" else count >= limit


def _is_language(text: str, language: str) -> bool:
    """Return True also if the language cannot be determined, as IFEval does."""
    return prose.language_of(text) in (language, "")


class Keywords(Rule):
    keywords: Texts

    def is_kept(self, text: str) -> bool:
        return all(keyword.lower() in text.lower() for keyword in self.keywords)


class KeywordFrequency(Rule):
    keyword: Text
    frequency: Count
    relation: Relation

    def is_kept(self, text: str) -> bool:
        return _holds(text.lower().count(self.keyword.strip().lower()), self.relation, self.frequency)


class ForbiddenWords(Rule):
    forbidden_words: Texts

    def is_kept(self, text: str) -> bool:
        return not any(re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) for word in self.forbidden_words)


class LetterFrequency(Rule):
    letter: Annotated[str, msgspec.Meta(min_length=1, max_length=1)]
    let_frequency: Count
    let_relation: Relation

    def is_kept(self, text: str) -> bool:
        return _holds(text.lower().count(self.letter.lower()), self.let_relation, self.let_frequency)


class ResponseLanguage(Rule):
    language: Text

    def is_kept(self, text: str) -> bool:
        return _is_language(text, self.language)


class NumberSentences(Rule):
    num_sentences: Count
    relation: Relation

    def is_kept(self, text: str) -> bool:
        return _holds(len(prose.sentences(text)), self.relation, self.num_sentences)


class NumberParagraphs(Rule):
    """Paragraphs between the divider ***."""

    num_paragraphs: Count

    def is_kept(self, text: str) -> bool:
        parts = [part.strip() for part in text.split("***")]
        inner = parts[bool(not parts[0]) : len(parts) - bool(not parts[-1])]
        return all(inner) and len(inner) == self.num_paragraphs


class NumberWords(Rule):
    num_words: Count
    relation: Relation

    def is_kept(self, text: str) -> bool:
        return _holds(len(prose.words(text)), self.relation, self.num_words)


class NthParagraphFirstWord(Rule):
    num_paragraphs: Count
    nth_paragraph: Annotated[int, msgspec.Meta(ge=1)]
    first_word: Text

    def is_kept(self, text: str) -> bool:
        parts = text.split("\n\n")
        number = sum(bool(part.strip()) for part in parts)
        if number != self.num_paragraphs or self.nth_paragraph > number or not parts[self.nth_paragraph - 1].strip():
            return False
        word = parts[self.nth_paragraph - 1].split()[0].lstrip("'").lstrip('"')
        return re.split(r"[.,?!'\"]", word.lower())[0] == self.first_word.lower()


class NumberPlaceholders(Rule):
    num_placeholders: Count

    def is_kept(self, text: str) -> bool:
        return len(re.findall(r"\[[^\[\]\n]*\]", text)) >= self.num_placeholders


class Postscript(Rule):
    postscript_marker: Text

    def is_kept(self, text: str) -> bool:
        marker = self.postscript_marker.strip()
        patterns = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
        return bool(re.search(patterns.get(marker, re.escape(marker.lower())), text.lower()))


class NumberBulletLists(Rule):
    num_bullets: Count

    def is_kept(self, text: str) -> bool:
        return prose.bullets(text) == self.num_bullets


class ConstrainedResponse(Rule):
    def is_kept(self, text: str) -> bool:
        return any(f"My answer is {word}." in text for word in ("yes", "no", "maybe"))


class NumberHighlightedSections(Rule):
    num_highlights: Count

    def is_kept(self, text: str) -> bool:
        single = [part for part in re.findall(r"\*[^\n*]*\*", text) if part.strip("*").strip()]
        double = [part for part in re.findall(r"\*\*[^\n*]*\*\*", text) if part.strip("*").strip()]
        return len(single) + len(double) >= self.num_highlights


class MultipleSections(Rule):
    section_spliter: Text
    num_sections: Count

    def is_kept(self, text: str) -> bool:
        return len(re.findall(rf"{re.escape(self.section_spliter.strip())}\s?\d+", text)) >= self.num_sections


class JsonFormat(Rule):
    def is_kept(self, text: str) -> bool:
        inner = re.sub(r"(?i)^```(?:json)?", "", text.strip()).removesuffix("```")
        try:
            read_json(inner)
        except NotJson:
            return False
        return True


class Title(Rule):
    def is_kept(self, text: str) -> bool:
        # Everything but a line break between the brackets; two searches instead of a pattern that backtracks.
        return any(
            line[start + 2 : end].strip("<> \t")
            for line in text.splitlines()
            if (start := line.find("<<")) >= 0 and (end := line.rfind(">>")) > start + 2
        )


class TwoResponses(Rule):
    def is_kept(self, text: str) -> bool:
        parts = [part.strip() for part in text.split("******")]
        if not all(parts[1:-1]):
            return False
        responses = [part for part in parts if part]
        return len(responses) == 2 and responses[0] != responses[1]


class RepeatPrompt(Rule):
    prompt_to_repeat: Text

    def is_kept(self, text: str) -> bool:
        return text.strip().lower().startswith(self.prompt_to_repeat.strip().lower())


class EndChecker(Rule):
    end_phrase: Text

    def is_kept(self, text: str) -> bool:
        return text.strip().strip('"').lower().endswith(self.end_phrase.strip().lower())


class CapitalWordFrequency(Rule):
    capital_frequency: Count
    capital_relation: Relation

    def is_kept(self, text: str) -> bool:
        capital = sum(word.isupper() for word in re.findall(r"\w+(?:[-'’]\w+)*", text))
        return _holds(capital, self.capital_relation, self.capital_frequency)


class EnglishCapital(Rule):
    def is_kept(self, text: str) -> bool:
        return text.isupper() and _is_language(text, "en")


class EnglishLowercase(Rule):
    def is_kept(self, text: str) -> bool:
        return text.islower() and _is_language(text, "en")


class NoComma(Rule):
    def is_kept(self, text: str) -> bool:
        return "," not in text


class Quotation(Rule):
    def is_kept(self, text: str) -> bool:
        inner = text.strip()
        return len(inner) > 1 and inner[0] == inner[-1] == '"'


RULES: dict[str, type[Rule]] = {
    "keywords:existence": Keywords,
    "keywords:frequency": KeywordFrequency,
    "keywords:forbidden_words": ForbiddenWords,
    "keywords:letter_frequency": LetterFrequency,
    "language:response_language": ResponseLanguage,
    "length_constraints:number_sentences": NumberSentences,
    "length_constraints:number_paragraphs": NumberParagraphs,
    "length_constraints:number_words": NumberWords,
    "length_constraints:nth_paragraph_first_word": NthParagraphFirstWord,
    "detectable_content:number_placeholders": NumberPlaceholders,
    "detectable_content:postscript": Postscript,
    "detectable_format:number_bullet_lists": NumberBulletLists,
    "detectable_format:constrained_response": ConstrainedResponse,
    "detectable_format:number_highlighted_sections": NumberHighlightedSections,
    "detectable_format:multiple_sections": MultipleSections,
    "detectable_format:json_format": JsonFormat,
    "detectable_format:title": Title,
    "combination:two_responses": TwoResponses,
    "combination:repeat_prompt": RepeatPrompt,
    "startend:end_checker": EndChecker,
    "startend:quotation": Quotation,
    "change_case:capital_word_frequency": CapitalWordFrequency,
    "change_case:english_capital": EnglishCapital,
    "change_case:english_lowercase": EnglishLowercase,
    "punctuation:no_comma": NoComma,
}
