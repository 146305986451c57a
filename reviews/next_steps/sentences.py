"""Suggestions as people read them."""

from decimal import Decimal
from functools import singledispatch
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from battles.models import Battle
from common.text.money import rounded_dollars
from common.text.numbers import format_numbers
from leaderboard.boards.places import BoardPlace
from leaderboard.counting.board_keys import Board
from leaderboard.models import SIDE_BY_SIDE
from leaderboard.models.imported import SCOPE as IMPORTED
from reviews.next_steps.rules import Contrast, Dominated, NearTemplate, Suggestion, TagDifference, UncomparedJudge

NAMED = 3


class Step(NamedTuple):
    """Texts of a suggestion, and the address of its button; "" without one."""

    title: str
    reason: str
    cost: str
    button: str
    url: str


@singledispatch
def step_of(suggestion: Suggestion, place: BoardPlace) -> Step:
    """Return the texts. place: of the page."""
    raise NotImplementedError(suggestion)


@step_of.register
def _contrast(contrast: Contrast, place: BoardPlace) -> Step:
    names = {"first": contrast.first, "second": contrast.second}
    title = _("Tell %(first)s and %(second)s apart") % names
    if contrast.unit == "votes":
        sentence = ngettext(
            "Of all pairs that the votes do not tell apart, this one is the nearest: about %(n)s more vote on the "
            "board, if the difference stays the same.",
            "Of all pairs that the votes do not tell apart, this one is the nearest: about %(n)s more votes on the "
            "board, if the difference stays the same.", contrast.more,
        )  # fmt: skip
        reason = sentence % format_numbers(n=contrast.more)
        if contrast.source.startswith(IMPORTED):
            return Step(title, reason, "", "", "")
        if series := Board.parse(contrast.source).series:
            url = reverse("reviews:review", args=[series])
            return Step(title, reason, _("A few minutes for each vote."), _("Open the review"), url)
        query = {"mode": Battle.Mode.SIDE_BY_SIDE.value, "models": contrast.ids}
        chosen = f"?{urlencode(query, doseq=True)}{place.more}" if contrast.source == SIDE_BY_SIDE else place.only
        return Step(title, reason, _("A few minutes for each vote."), _("Start a battle"), _new_battle(chosen))
    if contrast.unit == "opinions":
        sentence = ngettext(
            "Of all pairs that people do not tell apart, this one is the nearest: about %(n)s more opinion, if the "
            "difference stays the same.",
            "Of all pairs that people do not tell apart, this one is the nearest: about %(n)s more opinions, if the "
            "difference stays the same.", contrast.more,
        )  # fmt: skip
        reason = sentence % format_numbers(n=contrast.more)
        return Step(title, reason, _("No model is called."), _("Ask people"), _new_review(contrast.source))
    if contrast.unit == "repeats":
        reason = _(
            "Of all pairs that your runs do not tell apart, this one is the nearest: ask each case %(n)s times, "
            "because the answers to one case differ."
        ) % format_numbers(n=contrast.more)
        url, button = reverse("benchmarks:start", args=[contrast.template]), _("Start a run")
    else:
        sentence = ngettext(
            "Of all pairs that your runs do not tell apart, this one is the nearest: about %(n)s more case, if the "
            "difference stays the same.",
            "Of all pairs that your runs do not tell apart, this one is the nearest: about %(n)s more cases, if the "
            "difference stays the same.", contrast.more,
        )  # fmt: skip
        reason = sentence % format_numbers(n=contrast.more)
        url, button = _template(contrast.template), _("Open the template")
    return Step(title, reason, _call_cost(contrast.cost or 0.0), button, url)


@step_of.register
def _tag(tag: TagDifference, place: BoardPlace) -> Step:
    names = {"best": tag.best, "worst": tag.worst, "points": number_format(round(100 * tag.difference, 1), 1)}
    sentence = ngettext(
        "There %(best)s and %(worst)s differ by %(points)s points, more than on any other tag, by %(n)s case only.",
        "There %(best)s and %(worst)s differ by %(points)s points, more than on any other tag, by %(n)s cases only.",
        tag.cases,
    )
    more = _("%(n)s more cases would make it a sound result.") % format_numbers(n=tag.missing_cases)
    cost = f"{more} {_call_cost(tag.cost)}"
    return Step(
        _("Add cases with the tag “%(tag)s”") % {"tag": tag.tag},
        sentence % {**names, **format_numbers(n=tag.cases)}, cost, _("Open the template"), _template(tag.template),
    )  # fmt: skip


@step_of.register
def _near(near: NearTemplate, place: BoardPlace) -> Step:
    reason = _(
        "%(n)s of your latest votes are on prompts of the category “%(category)s”, and the template has such cases."
    )
    return Step(
        _("Run “%(template)s”") % {"template": near.template.name},
        reason % {**format_numbers(n=near.votes), "category": near.category},
        ngettext("%(n)s call a model", "%(n)s calls a model", near.template.cases)
        % format_numbers(n=near.template.cases),
        _("Start a run"), reverse("benchmarks:start", args=[near.template.public_id]) + place.only,
    )  # fmt: skip


@step_of.register
def _dominated(one: Dominated, place: BoardPlace) -> Step:
    shown = ", ".join([*one.losers[:NAMED], *("…" for _more in one.losers[NAMED : NAMED + 1])])
    title = _("Leave out %(losers)s") % {"losers": shown}
    sentence = ngettext(
        "%(winner)s is surely better, and costs less. It can take the place of %(n)s model.",
        "%(winner)s is surely better, and costs less. It can take the place of %(n)s models.", len(one.losers),
    )  # fmt: skip
    reason = sentence % {"winner": one.winner, **format_numbers(n=len(one.losers))}
    if one.template:
        url, button = reverse("benchmarks:run", args=[one.source]), _("See the results")
    elif one.source.startswith(IMPORTED):
        url, button = "", ""
    else:
        url, button = reverse("leaderboard:compare", args=one.ids) + place.only, _("Compare them")
    return Step(title, reason, _("Costs nothing."), button, url)


@step_of.register
def _uncompared(one: UncomparedJudge, place: BoardPlace) -> Step:
    reason = _(
        "It judged answers of “%(run)s”, and no people have. Their opinions on a part of the pairs show how far it can "
        "be trusted, and correct its board."
    ) % {"run": one.name}
    title = _("Compare the judge “%(judge)s” with people") % {"judge": one.judge}
    return Step(title, reason, _("No model is called."), _("Ask people"), _new_review(one.run))


def _new_review(run: str) -> str:
    return f"{reverse('reviews:new')}?{urlencode({'run': run})}"


def _call_cost(amount: float) -> str:
    if not amount:
        return _("The calls cost nothing.")
    return _("The calls cost about %(cost)s.") % {"cost": rounded_dollars(Decimal(str(amount)))}


def _template(public_id: str) -> str:
    return reverse("benchmarks:template", args=[public_id])


def _new_battle(query: str) -> str:
    return reverse("battles:new") + query
