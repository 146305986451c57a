"""Prompts labelled by hand."""

from dataclasses import dataclass
from pathlib import Path

from battles.text.classifier import classify

CATEGORY_CODES = {
    "co": "coding", "ma": "maths", "cw": "creative-writing", "if": "instruction-following", "ha": "hard-prompt",
}  # fmt: skip


@dataclass(frozen=True)
class LabelledPrompt:
    prompt: str
    language: str
    categories: frozenset[str]


def load_labelled_prompts() -> tuple[list[LabelledPrompt], list[LabelledPrompt]]:
    """Return the prompts that the rules were written with, and the held-out ones."""
    seen: list[LabelledPrompt] = []
    held_out: list[LabelledPrompt] = []
    rows = seen
    for line in Path(__file__).with_name("labelled_prompts.txt").read_text().splitlines():
        if line.startswith("# HELD OUT"):
            rows = held_out
        if not line.startswith("#"):
            language, categories, prompt = line.split("|", 2)
            keys = frozenset(CATEGORY_CODES[code] for code in categories.split(",") if code)
            rows.append(LabelledPrompt(prompt.replace("\\n", "\n"), language, keys))
    return seen, held_out


def precision_and_recall(rows: list[LabelledPrompt], category: str | None = None) -> tuple[float, float]:
    """Return (precision, recall) of one category, or of all."""
    correct = classified = relevant = 0
    for row in rows:
        labels = set(classify([row.prompt]).categories) & ({category} if category else set(CATEGORY_CODES.values()))
        expected = row.categories & {category} if category else row.categories
        correct, classified = correct + len(labels & expected), classified + len(labels)
        relevant += len(expected)
    return correct / classified, correct / relevant


def language_accuracy(rows: list[LabelledPrompt]) -> float:
    return sum(classify([row.prompt]).language == row.language for row in rows) / len(rows)
