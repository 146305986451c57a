"""Mapping from names in a foreign table to models: YAML `name: slug`, or CSV with name and model."""

import csv
from collections.abc import Iterable
from pathlib import Path

import yaml

from models_registry.models import LanguageModel


class BadMapping(ValueError):
    """Raised with a message for people."""


def read_mapping(path: Path) -> dict[str, LanguageModel]:
    """Return models by name. Raises BadMapping and OSError."""
    slugs = _csv_pairs(path) if path.suffix.lower() == ".csv" else _yaml_pairs(path)
    models = {model.slug: model for model in LanguageModel.objects.filter(slug__in=set(slugs.values()))}
    unknown = sorted(set(slugs.values()) - models.keys())
    if unknown:
        raise BadMapping(f"{path.name}: the registry has no {_quoted(unknown)}.")
    return {name: models[slug] for name, slug in slugs.items()}


def _csv_pairs(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines))
    if any(not row.get("name") or not row.get("model") for row in rows):
        raise BadMapping(f"{path.name}: every line needs a name and a model.")
    return {row["name"].strip(): row["model"].strip() for row in rows}


def _yaml_pairs(path: Path) -> dict[str, str]:
    try:
        pairs = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadMapping(f"{path.name} cannot be read as YAML: {error}.") from error
    if not isinstance(pairs, dict) or not all(isinstance(slug, str) for slug in pairs.values()):
        raise BadMapping(f"{path.name}: one line for each model, as `name in the table: slug`.")
    return {str(name): slug for name, slug in pairs.items()}


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)
