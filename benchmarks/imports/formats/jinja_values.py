"""Values of Jinja expressions, read once when a file is imported."""

import re

import minijinja

FUEL = 50_000
_ONLY_EXPRESSION = re.compile(r"\s*\{\{-?(?P<expression>[^{}]*(?:\{[^{}]*\}[^{}]*)*)-?\}\}\s*\Z")


def only_expression(template: str) -> str:
    """Return the expression of a template that is nothing else, or ""."""
    match = _ONLY_EXPRESSION.match(template)
    return match["expression"].strip() if match else ""


def value_of(expression: str, variables: dict[str, object]) -> object:
    """Return a value; None where it is undefined or cannot be computed."""
    environment = minijinja.Environment()
    environment.fuel = FUEL
    try:
        value: object = environment.eval_expr(expression, **variables)
    except (minijinja.TemplateError, TypeError, ValueError):
        return None
    return value
