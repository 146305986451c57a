"""Verdicts in judges' answers: exactly one at the end, or none. Nothing is guessed."""

import json
import re
from typing import NoReturn

import msgspec

from benchmarks.judging.rubrics import Kind, Rubric

# Finish reasons of answers that are not whole.
NOT_WHOLE = ("length", "content_filter")
TIE = "tie"
OUTCOMES = {"A>>B": 1.0, "A>B": 1.0, TIE: 0.5, "B>A": 0.0, "B>>A": 0.0}
# Other writings of the labels. "C" is MT-Bench's tie, "=" is Arena-Hard's.
_SAME_AS = {
    "A": "A>B", "B": "B>A", "C": TIE, "Tie": TIE, "TIE": TIE, "A=B": TIE, "B=A": TIE,
    "B<<A": "A>>B", "B<A": "A>B", "A<B": "B>A", "A<<B": "B>>A",
}  # fmt: skip
_ONLY_IN_BRACKETS = {"C"}
MAX_LABEL_CHARACTERS = 200

# Thoughts that were cut off have no verdict behind them.
_THOUGHTS = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL)
_FENCE_OPENS = re.compile(r"(?:```|~~~)[ \t]*(?:json)?[ \t]*", re.IGNORECASE)
_FENCE_CLOSES = re.compile(r"```|~~~")
_BRACKETS = re.compile(r"\[\[([^\[\]]{0,40})\]\]")
_NAMED = re.compile(r'"verdict"\s{0,40}:\s{0,40}"([^"\n]{0,40})"')
_GRADED = re.compile(r'"scores"\s{0,40}:\s{0,40}\{\s{0,40}"[^"\n]{0,80}"\s{0,40}:\s{0,40}\d')
_LEAD = re.compile(
    r"(?:(?:my |the |mon |le )?(?:final |overall )?(?:verdict|judge?ment|decision|décision|rating|score|note)"
    r"(?: final| finale)?(?: is| est)?|(?:我的)?(?:最终|最后)?(?:判决|裁决|结论|判定|评分))[ \t]*[:：][ \t]*",
    re.IGNORECASE,
)


class Verdict(msgspec.Struct, kw_only=True, frozen=True):
    # 1: the first is better, ½: a tie, 0: the second. With scores, their weighted mean from 0 to 1.
    outcome: float | None
    label: str = ""
    scores: dict[str, float] = {}
    reason: str = ""


def read_verdict(text: str, rubric: Rubric, *, finish_reason: str) -> Verdict | None:
    """Return the verdict that ends a judge's answer, None for an answer without exactly one, or that is not whole.

    A part of a verdict may read as another one: "A" of "Answer B is better", "1" of "10".
    """
    if finish_reason in NOT_WHOLE:
        return None
    return read_pair(text) if rubric.kind == Kind.PAIRWISE else read_scores(text, rubric)


def read_pair(text: str) -> Verdict | None:
    """Return the verdict that ends a text, None if none or more than one does."""
    reason, ending = _split(text)
    label = _label_of(ending)
    if label is None or _has_verdict(reason, "verdict") or (_is_bare(ending) and _has_bare_line(reason)):
        return None
    mentioned = {_known(written) for pattern in (_BRACKETS, _NAMED) for written in pattern.findall(reason)}
    if mentioned - {None, label}:
        return None
    return Verdict(outcome=OUTCOMES[label], label=label, reason=reason)


def read_scores(text: str, rubric: Rubric) -> Verdict | None:
    """Return the scores that end a text, None unless each criterion has exactly one on its scale."""
    reason, ending = _split(text)
    scores = _scores_of(ending, rubric)
    if scores is None or _has_verdict(reason, "scores") or _GRADED.search(reason):
        return None
    if len(scores) == 1 and ((_is_bare(ending) and _has_bare_line(reason)) or _other_grades(reason, scores)):
        return None
    weights = sum(item.weight for item in rubric.criteria)
    shares = sum(item.weight * (scores[item.name] - 1) / (item.points - 1) for item in rubric.criteria)
    return Verdict(outcome=shares / weights, scores=scores, reason=reason)


def _split(text: str) -> tuple[str, str]:
    """Return a text's reasons and its end: a fence's content, an object, or the last line."""
    thoughts = _THOUGHTS.match(text)
    lines = text[thoughts.end() if thoughts else 0 :].strip().split("\n")
    stripped = [line.strip() for line in lines]
    if len(lines) > 2 and _FENCE_CLOSES.fullmatch(stripped[-1]):
        for start in range(len(lines) - 2, -1, -1):
            if _FENCE_OPENS.fullmatch(stripped[start]):
                return _joined(lines[:start]), _joined(lines[start + 1 : -1])
    start = len(lines) - 1
    if stripped[-1] == "}":  # an object over several lines
        start = next((row for row in range(start, -1, -1) if lines[row].startswith("{")), start)
    return _joined(lines[:start]), _joined(lines[start:])


def _joined(lines: list[str]) -> str:
    return "\n".join(lines).strip()


def _label_of(ending: str) -> str | None:
    ending = _without_lead(ending)
    if ending.startswith("{"):
        written = _object(ending, "verdict")
        is_text = isinstance(written, str) and written.strip() not in _ONLY_IN_BRACKETS
        return _known(str(written)) if is_text else None
    return _bare_label(ending)


def _scores_of(ending: str, rubric: Rubric) -> dict[str, float] | None:
    ending = _without_lead(ending)
    if ending.startswith("{"):
        scores = _object(ending, "scores")
    elif len(rubric.criteria) == 1 and (number := _plain(ending)).isascii() and number.isdigit() and len(number) < 3:
        scores = {rubric.criteria[0].name: int(number)}
    else:
        return None
    if not isinstance(scores, dict) or set(scores) != {item.name for item in rubric.criteria}:
        return None
    for item in rubric.criteria:
        score = scores[item.name]
        if isinstance(score, bool) or not isinstance(score, int | float):
            return None
        if not 1 <= score <= item.points or score != int(score):
            return None
    return {item.name: float(scores[item.name]) for item in rubric.criteria}


def _without_lead(ending: str) -> str:
    """Return the rest of "Verdict: …"."""
    plain = ending.lstrip("*_# ")
    match = _LEAD.match(plain) if len(ending) <= MAX_LABEL_CHARACTERS else None
    return plain[match.end() :].lstrip("*_ ") if match and plain[match.end() :].strip("*_ ") else ending


def _bare_label(line: str) -> str | None:
    plain = _plain(line)
    if plain in _ONLY_IN_BRACKETS and not _BRACKETS.search(line):
        return None
    return _known(plain)


def _plain(line: str) -> str:
    """Return a line without emphasis, code, double brackets and a full stop; "" for a long one."""
    if len(line) > MAX_LABEL_CHARACTERS:
        return ""
    plain = line.strip().strip("*_`").removesuffix(".").strip("*_` ")
    match = _BRACKETS.fullmatch(plain)
    return (match.group(1) if match else plain).strip("*_` ")


def _known(written: str) -> str | None:
    label = re.sub(r"\s+", "", written.replace("≫", ">>").replace("≪", "<<"))
    label = _SAME_AS.get(label, label)
    return label if label in OUTCOMES else None


def _has_verdict(reason: str, key: str) -> bool:
    """Return whether a line of the reasons is a verdict, too."""
    for line in reason.split("\n"):
        short = line.strip()[: MAX_LABEL_CHARACTERS + 1]
        if f'"{key}"' in line and line.strip().startswith("{"):
            return True
        rest = _without_lead(short)
        label = _bare_label(rest)
        # A letter alone may be a heading.
        if label is not None and (rest != short or _BRACKETS.search(short) or len(_plain(short)) > 1):
            return True
        if rest != short and _plain(rest).isdigit():
            return True
    return False


def _is_bare(ending: str) -> bool:
    """Return whether an end is a label or a number without a mark, as a heading is, too."""
    return not ending.startswith("{") and not _BRACKETS.search(ending) and _without_lead(ending) == ending


def _has_bare_line(reason: str) -> bool:
    plain = [_plain(line) for line in reason.split("\n")]
    return any(_known(line) is not None or line.isdigit() for line in plain)


def _other_grades(reason: str, scores: dict[str, float]) -> bool:
    grades = {int(text) for text in _BRACKETS.findall(reason) if text.isascii() and text.isdigit()}
    return bool(grades - set(scores.values()))


def _object(text: str, key: str) -> object:
    """Return the key's value of an object that has only it and perhaps "reason"; None for other texts."""
    try:
        value = json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not set(value) <= {key, "reason"}:
        return None
    return value.get(key)


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a key occurs twice")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)
