"""What the fit of a snapshot found beside the standings, as sentences' parts for its page."""

from typing import Any, NamedTuple

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

STYLE_FEATURES = {
    "tokens": gettext_lazy("Longer answers"),
    "headings": gettext_lazy("More headings"),
    "bold": gettext_lazy("More bold text"),
    "lists": gettext_lazy("More lists"),
}


class Fact(NamedTuple):
    name: str
    value: str
    hint: str = ""


def describe_facts(facts: dict[str, Any]) -> list[Fact]:
    """The numbers of AggregationRun.facts (see rating.snapshot_fit.SnapshotFit); what is missing is left out."""
    return [
        *_dispersion(facts.get("phi")),
        *_side_bias(facts.get("side_bias")),
        *_design_effect(facts.get("largest_design_effect")),
        *_style(facts.get("style")),
    ]


def _dispersion(phi: list[float] | None) -> list[Fact]:
    if not phi:
        return []
    hint = _("scatter of the votes compared with a coin's; below 1 where many are ties")
    return [Fact(_("Dispersion φ"), ", ".join(_number(value) for value in phi), hint)]


def _side_bias(bias: dict[str, Any] | None) -> list[Fact]:
    if not bias:
        return []
    value = _("%(points)s points (%(low)s to %(high)s)") % {
        name: _number(bias[name], places=1) for name in ("points", "low", "high")
    }
    hint = _("scores are corrected for it") if bias["applied"] else _("too small or too unsure to correct scores for")
    return [Fact(_("Worth of sitting left"), value, hint)]


def _design_effect(largest: float | None) -> list[Fact]:
    if largest is None:
        return []
    hint = _("by how much the votes of one person being alike widens a variance")
    return [Fact(_("Largest design effect"), _number(largest), hint)]


def _style(style: dict[str, Any] | None) -> list[Fact]:
    if not style:
        return []
    facts = []
    for feature, found in style["coefficients"].items():
        if feature in style["dropped"]:
            continue
        value = "%(value)s (%(low)s – %(high)s)" % {name: _number(found[name], places=3) for name in found}
        hint = _("log-odds per standard deviation of the difference")
        facts.append(Fact(str(STYLE_FEATURES.get(feature, feature)), value, hint))
    return facts


def _number(value: float, *, places: int = 2) -> str:
    return number_format(value, places)
