"""The letter that an answer to a multiple-choice question names."""

import string

from benchmarks.scoring.patterns import compile_pattern

# "Answer: B", "the answer is (B)", "réponse : B", "\boxed{B}".
_NAMED = compile_pattern(
    r"(?i:\b(?:answer|choice|option|r[eé]ponse|choix)\b)(?:\s*(?i:is|est))?\s*[:：]?\s*[*_(\[\"'«`$]*(?:\\boxed\{|\\text\{)*"
    r"(?:([A-Z])\b|([a-z])[)\].,;:*_\"'»`$}]*\s*$)(?:[)\].,*_\"'»`$}]*\s*(?i:or|and|ou|et|[/,&])\s*[*_(]*([A-Z])\b)?"
)
_BOXED = compile_pattern(r"\\boxed\{(?:\\text\{)?\s*\(?([A-Z])\)?\s*\}")
_ALONE = compile_pattern(r"^[\s*_(\[\"'«`$]*([A-Za-z])[\s*_)\].,:;!\"'»`$]*$")
# "(B)", "**B**", "B)", "B." or "B:" at the start of a line.
_MARKED = compile_pattern(r"\(([A-Z])\)|\*\*([A-Z])\b|(?m:^[ \t]*([A-Z])[).:](?:[ \t]|$))")
_STANDING = compile_pattern(r"\b([B-HJ-Z])\b|\b([AI])\b(?:[.)\"'*]*\s*$|\s*(?:[,;/&]|or\b|and\b|ou\b|et\b))")


def find_letter(text: str, choices: int) -> str | None:
    """Return the one letter that a text names, or None if it names none or two."""
    letters = string.ascii_uppercase[:choices]
    for pattern in (_ALONE, _BOXED, _NAMED, _MARKED, _STANDING):
        found = {
            letter.upper()
            for match in pattern.finditer(text)
            for letter in (match.group(index) for index in range(1, pattern.groups + 1))
            if letter and letter.upper() in letters
        }
        if found:
            return found.pop() if len(found) == 1 else None
    return None
