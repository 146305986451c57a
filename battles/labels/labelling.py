from collections.abc import Mapping, Sequence
from typing import TypedDict

from battles.labels import custom_categories
from battles.text.classifier import VERSION, classify
from battles.text.custom_category import Rule, rules_digest
from battles.text.prompt_digest import prompt_digest

IMAGES = "images"


class LabelColumns(TypedDict):
    categories: list[str]
    language: str
    labelled_by: str
    prompt_digest: str


def version(rules: Sequence[Rule]) -> str:
    """Return the version of classifier and rules; another version may label differently."""
    return f"{VERSION} own-{rules_digest(rules)}" if rules else VERSION


def label(
    prompts: Sequence[str], rules: Sequence[Rule] | None = None, *, files: Sequence[Mapping[str, object]] = ()
) -> LabelColumns:
    """Return the labels of a conversation.

    prompts: those of the judged turns. rules: the operator's categories, by default the cached ones.
    files: `kind` and `sha256` of each attachment.
    """
    rules = custom_categories.rules() if rules is None else rules
    labels = classify(prompts)
    custom = {rule.slug for rule in rules if rule.matches(prompts, labels.language)}
    return {
        "categories": sorted({*labels.categories, *custom, *(IMAGES for file in files if file["kind"] == "image")}),
        "language": labels.language,
        "labelled_by": version(rules),
        "prompt_digest": prompt_digest(prompts, [str(file["sha256"]) for file in files]),
    }
