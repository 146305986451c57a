"""Judges, as models of the fake provider: name → its answer to a request for a verdict."""

import json
import re
from collections.abc import Callable
from typing import Any

Messages = list[dict[str, Any]]
_TEXT = re.compile(r"\[BEGIN ANSWER( [AB]|) (\w+)\]\n(.*?)\n\[END ANSWER\1 \2\]", re.DOTALL)
_VERDICTS = ("A>B", "tie", "B>A")


def answers_in(messages: Messages) -> list[str]:
    """Return the texts to judge, in the order shown."""
    first = next(message for message in messages if message["role"] == "user")
    return [text for _, _, text in _TEXT.findall(first["content"])]


def _verdict(label: str) -> str:
    return f"They differ.\n{json.dumps({'verdict': label})}"


def _by(value: Callable[[str], float]) -> Callable[[Messages], str]:
    def judge(messages: Messages) -> str:
        first, second = map(value, answers_in(messages))
        return _verdict(_VERDICTS[0 if first > second else 1 if first == second else 2])

    return judge


def _quality(text: str) -> float:
    """Return the number in "quality 3", less a half without the end of the answer; what follows adds nothing."""
    found = re.search(r"quality (\d)", text)
    return (float(found[1]) if found else 0.0) - (0.0 if "That is the end." in text else 0.5)


def _grades(messages: Messages) -> str:
    [text] = answers_in(messages)
    return f"Fine.\n{json.dumps({'scores': {'right': 1 + min(4, round(_quality(text)))}})}"


def _cut(messages: Messages) -> str:
    """Return what is left of "Answer B is better" or of "10"; the fake provider ends it by the cap."""
    return "Both are short.\n" + ("A" if len(answers_in(messages)) > 1 else "1")


def _mends(messages: Messages) -> str:
    return "The first one, surely." if len(messages) < 3 else _verdict("A>B")


JUDGES: dict[str, Callable[[Messages], str]] = {
    "judge-first": lambda messages: _verdict("A>B"),
    "judge-second": lambda messages: _verdict("B>A"),
    "judge-longer": _by(len),
    "judge-fair": _by(_quality),
    "judge-grades": _grades,
    "judge-mends": _mends,
    "judge-cut": _cut,
    "judge-incorrect": lambda messages: "INCORRECT",
    "judge-two-labels": lambda messages: _verdict("A>B") + "\n" + json.dumps({"verdict": "B>A"}),
    "judge-prose": lambda messages: "Answer A is better, because it names the city.",
}
