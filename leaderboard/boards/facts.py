from collections.abc import Sequence
from typing import NamedTuple

from django.utils.formats import get_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.payload_types import JsonObject
from leaderboard.boards.cells import format_integer
from leaderboard.boards.standings import model_label
from leaderboard.payload_types import ResultPayload
from leaderboard.rating.snapshot_facts import (
    AgreementFacts,
    ContextFacts,
    DropFacts,
    FlipFacts,
    ForecastFacts,
    Interval,
    MisfitFacts,
    SideBiasFacts,
    StyleFacts,
    TasteFacts,
)

STYLE_FEATURES = {
    "tokens": gettext_lazy("Longer answers"),
    "headings": gettext_lazy("More headings"),
    "bold": gettext_lazy("More bold text"),
    "lists": gettext_lazy("More lists"),
}

# Name and unit.
CONTEXT_COVARIATES = {
    "met_before": (
        gettext_lazy("Model met before in the session"),
        gettext_lazy("log-odds for a model already revealed in the session"),
    ),
    "files": (gettext_lazy("Files attached"), gettext_lazy("log-odds for answer A in votes with files")),
    "reasoning": (gettext_lazy("Reasoning shown"), gettext_lazy("log-odds for an answer with its reasoning shown")),
    "first_token": (
        gettext_lazy("Longer wait for the first token"),
        gettext_lazy("log-odds for an answer that took twice as long, with 1 s added to both waits"),
    ),
}


class Fact(NamedTuple):
    name: str
    value: str
    hint: str = ""


def describe_facts(facts: JsonObject, names: dict[str, str]) -> list[Fact]:
    """Return texts for AggregationRun.facts (see rating.snapshot_fit.SnapshotFit). names: {model id: display name}."""
    return [
        *_dispersion(facts.get("phi")),
        *_misfit(facts.get("misfit")),
        *_first_place(facts.get("flips_first"), names),
        *_dropped(facts.get("drops_first"), names),
        *_side_bias(facts.get("side_bias")),
        *_design_effect(facts.get("largest_design_effect")),
        *_voters(facts.get("effective_voters")),
        *_taste(facts.get("taste")),
        *_forecast(facts.get("forecast")),
        *_agreement(facts.get("agreement")),
        *_style(facts.get("style")),
        *_context(facts.get("context")),
    ]


class AgreementRow(NamedTuple):
    name: str
    score: str
    weighted: str
    difference: str


def agreement_rows(results: Sequence[ResultPayload]) -> list[AgreementRow]:
    """Return models with the score, in the order of `results`."""
    return [
        AgreementRow(
            model_label(line["model"]), _number(score, places=0), _number(weighted, places=0), _signed(weighted - score)
        )
        for line in results
        if (score := line["score"]) is not None and (weighted := line["agreement_score"]) is not None
    ]


def sampling_shares_by_name(facts: JsonObject, names: dict[str, str]) -> list[tuple[str, str]]:
    """Return [(name, probability of being in the next battle)], largest first."""
    shares: dict[str, float] = facts.get("sampling_shares") or {}
    by_share = sorted(shares.items(), key=lambda share: (-share[1], share[0]))
    return [(names.get(slug, slug), f"{_number(100 * share, places=1)} %") for slug, share in by_share]


def _dispersion(phi: list[float] | None) -> list[Fact]:
    if not phi:
        return []
    hint = _("scatter of the votes compared with a coin's; below 1 where many are ties")
    return [Fact(_("Dispersion φ"), ", ".join(_number(value) for value in phi), hint)]


def _misfit(misfit: MisfitFacts | None) -> list[Fact]:
    if not misfit or misfit["df"] <= 0:
        return []
    hint = _(
        "χ² %(chi2)s, degrees of freedom: %(df)s; about 1 where the scores explain every pair's votes; voters "
        "whose votes are alike raise it, too"
    )
    values = {"chi2": _number(misfit["chi2"], places=1), "df": misfit["df"]}
    return [Fact(_("Misfit χ²/df"), _number(misfit["chi2"] / misfit["df"]), hint % values)]


def _first_place(flip: FlipFacts | None, names: dict[str, str]) -> list[Fact]:
    if not flip:
        return []
    values = {
        role: names.get(model, model)
        for role, model in (("winner", flip["winner"]), ("loser", flip["loser"]), ("first", flip["first"]))
    }
    hint = _("all for %(winner)s against %(loser)s; then %(first)s would be first") % values
    return [Fact(_("Votes that would change the first place"), format_integer(flip["votes"]), hint)]


def _dropped(drop: DropFacts | None, names: dict[str, str]) -> list[Fact]:
    if not drop:
        return []
    hint = _("without them %(first)s would be first; found by a search step by step, a smaller set is possible")
    values = {"first": names.get(drop["first"], drop["first"])}
    return [Fact(_("Votes that hold the first place"), format_integer(drop["votes"]), hint % values)]


def _side_bias(bias: SideBiasFacts | None) -> list[Fact]:
    if not bias:
        return []
    value = _value_with_interval({"value": bias["points"], "low": bias["low"], "high": bias["high"]}, places=1)
    hint = _("scores are corrected for it") if bias["applied"] else _("too small or too unsure to correct scores for")
    return [Fact(_("Points for being answer A"), value, hint)]


def _design_effect(largest: float | None) -> list[Fact]:
    if largest is None:
        return []
    hint = _("by how much the votes of one person being alike widens a variance")
    return [Fact(_("Largest design effect"), _number(largest), hint)]


def _voters(effective: float | None) -> list[Fact]:
    if effective is None:
        return []
    hint = _("as many people, each with equally many votes, would weigh as much; less where a few cast most votes")
    return [Fact(_("Effective number of voters"), _number(effective, places=1), hint)]


def _taste(taste: TasteFacts | None) -> list[Fact]:
    if taste is None:
        return []
    hint = _("points by which people’s liking of a model differs from everyone’s (standard deviation), for own boards")
    return [Fact(_("Spread of people’s tastes"), _number(taste["sd"], places=0), hint)]


def _forecast(forecast: ForecastFacts | None) -> list[Fact]:
    if not forecast:
        return []
    share, outcome = forecast["share_loss"], forecast["outcome_loss"]
    shares = _("mean loss per vote in nats, on every tenth vote (%(votes)s) after a fit of the others")
    hint = shares % {"votes": format_integer(forecast["held_out"])}
    losses = [
        (_("Held-out log-loss of the share, ties as halves"), share["ties_half"]),
        (_("Held-out log-loss of the share, ties left out of the fit"), share["ties_dropped"]),
        (_("Held-out log-loss of win, tie or loss, one tie factor"), outcome["one_factor"]),
        (_("Held-out log-loss of win, tie or loss, a tie factor per model"), outcome["tie_factors"]),
    ]
    factors = forecast["tie_factors"].values()
    span = _("%(low)s to %(high)s") % {"low": _number(min(factors)), "high": _number(max(factors))}
    return [
        *(Fact(name, _number(loss, places=4), hint) for name, loss in losses if loss is not None),
        Fact(_("Tie factors"), span, _("1: never a tie; all of them are in the snapshot's JSON")),
    ]


def _agreement(agreement: AgreementFacts | None) -> list[Fact]:
    if not agreement:
        return []
    hint = _("of %(voters)s voters' weights: 1 agrees as most do, 0 votes at random") % {
        "voters": format_integer(agreement["voters"])
    }
    return [Fact(_("Standard deviation of agreement"), _number(agreement["spread"]), hint)]


def _style(style: StyleFacts | None) -> list[Fact]:
    if not style:
        return []
    hint = _("log-odds per standard deviation of the difference")
    left_out = Fact(
        "", _("left out"), _("of the answers compared, those with more of it won every time, or lost every time")
    )
    separating = style.get("separating", [])
    return [
        left_out._replace(name=str(name))
        if feature in separating
        else Fact(str(name), _value_with_interval(style["coefficients"][feature], places=3), hint)
        for feature, name in STYLE_FEATURES.items()
        if feature in separating or (feature in style["coefficients"] and feature not in style["dropped"])
    ]


def _context(context: ContextFacts | None) -> list[Fact]:
    if not context:
        return []
    unidentified = (
        _("not estimated"),
        _("the same in all votes, determined by the two models, or without a finite effect; not in the fit"),
    )
    facts = []
    for covariate, (name, unit) in CONTEXT_COVARIATES.items():
        effect = context["coefficients"].get(covariate)
        if effect is None:
            facts.append(Fact(str(name), *unidentified))
            continue
        value = _value_with_interval(effect, places=3)
        hint = (
            _("%(unit)s; in the fit of style-controlled scores")
            if effect["applied"]
            else _("%(unit)s; within 3 standard errors, so not in the fit")
        )
        facts.append(Fact(str(name), value, hint % {"unit": unit}))
    return facts


def _value_with_interval(interval: Interval, *, places: int) -> str:
    numbers = {"value": interval["value"], "low": interval["low"], "high": interval["high"]}
    values = {name: _number(number, places=places) for name, number in numbers.items()}
    return _("%(value)s (%(low)s to %(high)s)") % values


def _signed(points: float) -> str:
    text = _number(points, places=0)
    return f"+{text}" if points >= 0.5 else text.replace("−0", "0") if points > -0.5 else text


def _number(value: float, *, places: int = 2) -> str:
    return f"{value:.{places}f}".replace(".", get_format("DECIMAL_SEPARATOR")).replace("-", "−")
