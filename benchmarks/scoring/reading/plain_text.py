"""Answers without their markup: reasoning tags, Markdown, LaTeX and tables become plain lines."""

import re
import unicodedata

from benchmarks.scoring.patterns import compile_pattern

_REASONING = compile_pattern(r"<(?:think|thinking|reasoning)>.*?</(?:think|thinking|reasoning)>", True, True)
# Some chat templates open the tag themselves, so that the answer has only its end.
_REASONING_END = compile_pattern(r"^.*</(?:think|thinking|reasoning)>", True, True)
# An answer that was cut has only the beginning.
_REASONING_START = compile_pattern(r"<(?:think|thinking|reasoning)>.*$", True, True)
_STRUCK = compile_pattern(r"~~[^~\n]+~~")
_STYLED = compile_pattern(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|mbox)\s*\{([^{}]*)\}")
_BOXED = compile_pattern(r"\\(?:boxed|fbox)\s*\{([^{}]*)\}")
_TAGGED = compile_pattern(r"(?i)<(?:final_?)?answer>([^<]*)</(?:final_?)?answer>")
_SIGNS = compile_pattern(r"\\[()\[\]]|[$*`\"“”«»]")
_UNDERLINES = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_LINE_MARKS = compile_pattern(r"(?m)^[ \t>#•+-]+")
_RULE = re.compile(r"[\s|:-]+\Z")


def without_reasoning(text: str) -> str:
    return _REASONING_END.sub("", _REASONING.sub("", text)).strip()


def after_reasoning(text: str) -> str:
    """Like `without_reasoning`; reasoning that was cut before its end is left out, too."""
    return _REASONING_START.sub("", without_reasoning(text)).strip()


def plain_text(text: str, answer_heading: "re.Pattern[str]") -> str:
    """Return an answer in NFKC; boxes, tags and columns of answers become lines "Answer: …"."""
    text = unicodedata.normalize("NFKC", after_reasoning(text)).replace("’", "'")
    text = _STRUCK.sub("", text)
    for _ in range(3):
        text = _STYLED.sub(r"\1", text)
    text = _TAGGED.sub("\nAnswer: \\1\n", _BOXED.sub("\nAnswer: \\1\n", text))
    text = _UNDERLINES.sub("", _SIGNS.sub("", text))
    return _without_tables(_LINE_MARKS.sub("", text), answer_heading).strip()


def _without_tables(text: str, answer_heading: "re.Pattern[str]") -> str:
    """Return the text with the last row's cell below a heading such as "Answer" as a line."""
    if "|" not in text:
        return text
    lines, column = [], None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if "|" in line else []
        if not cells or _RULE.match(line):
            lines.append("" if cells else line)
            continue
        headings = [number for number, cell in enumerate(cells) if answer_heading.fullmatch(cell)]
        if column is not None and column < len(cells):
            lines.append(f"Answer: {cells[column]}")
        elif headings and headings[0] < len(cells) - 1:
            lines.append(f"Answer: {cells[headings[0] + 1]}")
        elif headings:
            column = headings[0]
        else:
            lines.append(line)
    return "\n".join(lines)
