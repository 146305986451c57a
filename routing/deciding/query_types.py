"""Type of a question: tool use, data analysis, one of the categories, or general chat."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.utils.translation import gettext as _

from battles.auto.options import RoutingContext
from battles.labels import Labels
from battles.labels.categories import BUILT_IN, category_names
from battles.text.vocabulary import word_pattern

TOOL_USE, DATA_ANALYSIS, GENERAL_CHAT = "tool-use", "data-analysis", "general-chat"
# Categories that describe a prompt's form: they agree with every subject.
FORMS = frozenset({"hard-prompt", "long-prompt", "images", "multi-turn"})
# Characters that are read of a long prompt, from its beginning.
MAX_CHARACTERS_READ = 4_000

_TOOLS = word_pattern(
    r"""
    search the (?:web|internet), browse the (?:web|internet), look (?:it |this )?up online, google (?:it|this|for),
    call the (?:api|tool|function), use (?:the|your) tools?, send an? (?:e-?mail|message) to,
    (?:book|schedule|cancel) (?:an?|the|my) (?:\w+ )?(?:meeting|appointment|flight|table|room),
    cherche(?:r|z)? sur (?:le web|internet), envoie(?:r|z)? un (?:e-?mail|courriel|message) à,
    such(?:e|en)? im (?:web|internet), busca en internet
    """
)
_DATA = word_pattern(
    r"""
    (?:this|the|my|our|attached|following) (?:data ?set|data ?frame|spreadsheet|table of data|csv|excel file|data),
    ces données, mes données, le jeu de données, ce tableur, diese daten, meine daten, estos datos, mis datos
    """
)
_ANALYSIS = word_pattern(
    r"""
    analy[sz]e[sd]?, analysis, summari[sz]e, averages?, mean, median, correlat\w+, trends?, outliers?, group(?:ed)? by,
    pivot, plot, chart, histogram, forecast, regression, per (?:month|year|region|customer), how many rows,
    moyennes?, médiane, tendances?, analyse[rz]?, graphique, durchschnitt, mittelwert, promedio
    """
)


class QueryType(NamedTuple):
    """confidence: 1 for what the caller states, else the share of the matching rules that agree."""

    name: str
    confidence: float


def query_type(prompts: Sequence[str], labels: Labels, context: RoutingContext, *, needs_tools: bool) -> QueryType:
    """Return the first of tool use, data analysis and the categories that applies; the caller's flags beat words."""
    if needs_tools or context.tools:
        return QueryType(TOOL_USE, 1.0)
    if context.data_loaded:
        return QueryType(DATA_ANALYSIS, 1.0)
    types = [*_types_by_words(prompts[-1] if prompts else ""), *in_order(labels.categories)]
    if not types:
        return QueryType(GENERAL_CHAT, 1.0)
    rivals = [name for name in types[1:] if name not in FORMS]
    return QueryType(types[0], 1 / (1 + len(rivals)))


def _types_by_words(prompt: str) -> list[str]:
    text = prompt[:MAX_CHARACTERS_READ]
    types = [TOOL_USE] if _TOOLS.search(text) else []
    if _DATA.search(text) and _ANALYSIS.search(text):
        types.append(DATA_ANALYSIS)
    return types


def in_order(categories: Iterable[str]) -> list[str]:
    """Return built-in categories in their order, then the operator's, subjects before forms."""
    order = {name: number for number, name in enumerate(BUILT_IN)}
    return sorted(categories, key=lambda name: (name in FORMS, order.get(name, len(order)), name))


def router_labels(labels: Labels) -> list[str]:
    """Return the labels by which a router tells prompts apart: categories, and the language as `language:fr`."""
    return [*labels.categories, f"language:{labels.language}"]


def type_names() -> dict[str, str]:
    """Return names by RoutingDecision.query_type; one query, for the operator's categories."""
    return {
        TOOL_USE: _("Tool use"),
        DATA_ANALYSIS: _("Data analysis"),
        **category_names(),
        GENERAL_CHAT: _("General chat"),
    }
