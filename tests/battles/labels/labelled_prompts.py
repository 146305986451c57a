"""Prompts that a person filed, and how well the classifier does on them."""

from dataclasses import dataclass
from pathlib import Path

from battles.text.classifier import classify

SHORT = {
    "co": "coding", "ma": "maths", "cw": "creative-writing", "if": "instruction-following", "ha": "hard-prompt",
}  # fmt: skip


@dataclass(frozen=True)
class Filed:
    prompt: str
    language: str
    categories: frozenset[str]


def filed_by_hand() -> tuple[list[Filed], list[Filed]]:
    """Those that were seen while the rules were written, and those that were not."""
    seen: list[Filed] = []
    held_out: list[Filed] = []
    rows = seen
    for line in Path(__file__).with_name("prompts_to_label.txt").read_text().splitlines():
        if line.startswith("# HELD OUT"):
            rows = held_out
        if not line.startswith("#"):
            language, categories, prompt = line.split("|", 2)
            keys = frozenset(SHORT[short] for short in categories.split(",") if short)
            rows.append(Filed(prompt.replace("\\n", "\n"), language, keys))
    return seen, held_out


def precision_and_recall(rows: list[Filed], category: str | None = None) -> tuple[float, float]:
    """Of what was filed under a category how much belongs there, and of what belongs there how much was filed."""
    right = filed = wanted = 0
    for row in rows:
        found = set(classify([row.prompt]).categories) & ({category} if category else set(SHORT.values()))
        expected = row.categories & {category} if category else row.categories
        right, filed, wanted = right + len(found & expected), filed + len(found), wanted + len(expected)
    return right / filed, right / wanted


def share_of_languages_found(rows: list[Filed]) -> float:
    return sum(classify([row.prompt]).language == row.language for row in rows) / len(rows)
