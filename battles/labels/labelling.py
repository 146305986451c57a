"""Labels of battles and votes, from what people asked."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from battles.labels import custom_categories
from battles.text.classifier import VERSION, classify
from battles.text.custom_category import Rule, rules_digest
from battles.text.prompt_digest import prompt_digest

# What a picture goes with.
IMAGES = "images"


class LabelColumns(TypedDict):
    """Of Battle and of Vote."""

    categories: list[str]
    language: str
    labelled_by: str
    prompt_digest: str


def version(rules: Sequence[Rule]) -> str:
    """Names the rules and models that label now: what was labelled by another version may be labelled differently."""
    return f"{VERSION} own-{rules_digest(rules)}" if rules else VERSION


def label(
    prompts: Sequence[str], rules: Sequence[Rule] | None = None, *, files: Sequence[Mapping[str, object]] = ()
) -> LabelColumns:
    """prompts: what was asked in the turns that are judged. rules: of the operator's categories, if at hand.

    files: `kind` and `sha256` of those that went with the prompts.
    """
    rules = custom_categories.rules() if rules is None else rules
    found = classify(prompts)
    own = {rule.slug for rule in rules if rule.matches(prompts, found.language)}
    return {
        "categories": sorted({*found.categories, *own, *(IMAGES for file in files if file["kind"] == "image")}),
        "language": found.language,
        "labelled_by": version(rules),
        "prompt_digest": prompt_digest(prompts, [str(file["sha256"]) for file in files]),
    }
