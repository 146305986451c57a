"""Sentences of a decision report."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from msgspec import UNSET

from benchmarks.reports.power import power_sentence
from common.text.money import rounded_dollars
from common.text.numbers import format_numbers
from models_registry.templatetags.energy import format_watt_hours
from reviews.models import Review
from reviews.queries import people_sentence
from reviews.reports.document import CampaignInputs, Caution, Difference, Document, Figures, Inputs, RunInputs

NAMED = 5
_PLAIN: Mapping[str, str | Promise] = {
    "cancelled": gettext_lazy("The run was cancelled: its numbers are of a part of the items."),
    "no_scores": gettext_lazy("No answer has a score. Check the checks of the template."),
    "no_ranking": gettext_lazy("The board has no ranking yet."),
    "names_known": gettext_lazy("Names were known when people chose, so these votes say less than blind ones."),
    "chosen_pairs": gettext_lazy("Auto mode chose the pairs, for prompts where it expected a close result."),
    "imported": gettext_lazy("The votes were imported: the arena did not see how they were cast."),
    "closed_early": gettext_lazy("Its owner closed the review before every pair had its opinions."),
    "adaptive": gettext_lazy("Which pairs were shown depended on the votes: there is no board corrected by people."),
}
_COUNTED: Mapping[str, Callable[[int], str]] = {
    "few_cases": lambda n: ngettext(
        "The run has %(n)d independent case only: intervals are wide.",
        "The run has %(n)d independent cases only: intervals are wide.", n,
    ),
    "unscored": lambda n: ngettext("%(n)d answer could not be scored.", "%(n)d answers could not be scored.", n),
    "reused": lambda n: ngettext(
        "%(n)d answer is of an earlier run, and cost nothing here.",
        "%(n)d answers are of earlier runs, and cost nothing here.", n,
    ),
    "few_voters": lambda n: ngettext(
        "Nearly all votes are of %(n)d person.", "The votes weigh as much as those of %(n)d people.", n
    ),
    "separate_groups": lambda n: ngettext(
        "%(n)d group of models has no comparison with the others, direct or indirect.",
        "%(n)d groups of models have no comparison with the others, direct or indirect.", n,
    ),
    "preliminary": lambda n: ngettext(
        "%(n)d model is preliminary: its rank may still change a lot.",
        "%(n)d models are preliminary: their ranks may still change a lot.", n,
    ),
    "few_people": lambda n: ngettext(
        "%(n)d person has counted votes: too few to decide anything about others.",
        "%(n)d people have counted votes: too few to decide anything about others.", n,
    ),
    "not_verified": lambda n: ngettext(
        "%(n)d person joined by a link or a code, which does not verify them.",
        "%(n)d people joined by a link or codes, which do not verify them.", n,
    ),
    "set_aside": lambda n: ngettext(
        "The owner set %(n)d person’s votes aside.", "The owner set the votes of %(n)d people aside.", n
    ),
    "pairs_left_out": lambda n: ngettext(
        "%(n)d pair of answers was left out: one failed, was cut off, or names its model.",
        "%(n)d pairs of answers were left out: one failed, was cut off, or names its model.", n,
    ),
    "excluded": lambda n: ngettext("%(n)d vote is not counted.", "%(n)d votes are not counted.", n),
}  # fmt: skip


def caution_sentence(caution: Caution, labels: Mapping[str, str]) -> str:
    if caution.code in _PLAIN:
        return str(_PLAIN[caution.code])
    if caution.code in _COUNTED:
        return _COUNTED[caution.code](caution.n) % {"n": caution.n}
    if caution.code == "lost":
        sentence = _("Calls without an answer cost %(cost)s, beside the costs of the entrants.")
        return sentence % {"cost": rounded_dollars(Decimal(str(caution.cost)))}
    if caution.code == "retired":
        return _("%(model)s was retired since: it is asked no more.") % {"model": labels[caution.key]}
    details = {**format_numbers(scored=caution.n, planned=caution.of), "entrant": labels[caution.key]}
    return _("%(entrant)s has %(scored)s of %(planned)s scores, and no rank.") % details


def answer(figures: Figures, labels: Mapping[str, str]) -> str:
    best, ranked = [line for line in figures.lines if line.is_best], [line for line in figures.lines if line.rank_best]
    if not best:
        return _("The results name no best one.")
    if len(best) > 1:
        return _("Each of these may be the best: %(names)s.") % {"names": listed([labels[line.key] for line in best])}
    [line] = best
    if len(ranked) == 1:
        return _("%(best)s is the only one with a rank: no other one has enough scores.") % {"best": labels[line.key]}
    details = {"best": labels[line.key], "n": len(line.better_than), "others": len(ranked) - 1}
    return _("%(best)s is the best: surely better than %(n)d of the %(others)d others that have a rank.") % details


def asked(subject: Inputs) -> str:
    if isinstance(subject, CampaignInputs):
        return " ".join(_asked_people(subject))
    if isinstance(subject, RunInputs):
        payload = subject.payload
        numbers = format_numbers(entrants=len(payload.entrants), cases=payload.cases, repeats=payload.repeats)
        template = {"template": subject.template, "version": subject.version}
        if payload.repeats == 1:
            sentence = _(
                "%(entrants)s entrants, each on the %(cases)s cases of the template “%(template)s”, "
                "version %(version)d."
            )
        else:
            sentence = _(
                "%(entrants)s entrants, each %(repeats)s times on the %(cases)s cases of the template “%(template)s”, "
                "version %(version)d."
            )
        return sentence % {**numbers, **template}
    numbers = format_numbers(votes=subject.votes_counted, models=len(subject.lines))
    sentence = _("People: %(votes)s counted votes on %(models)s models, on the board “%(board)s”.")
    return sentence % {**numbers, "board": subject.title}


def _asked_people(subject: CampaignInputs) -> Iterator[str]:
    numbers = format_numbers(
        votes=subject.board.votes_counted, people=subject.people, items=subject.items, models=len(subject.board.lines)
    )
    yield _("%(votes)s counted votes on %(items)s pairs of stored answers of %(models)s models.") % numbers
    if subject.template:
        details = {"template": subject.template, "version": subject.version}
        yield _("The questions are those of the template “%(template)s”, version %(version)d.") % details
    if subject.cases is not UNSET:
        sentence = _("It asked about %(n)s of the run’s cases, drawn at random.")
        yield sentence % format_numbers(n=subject.cases)
    yield _("Asked were %(audience)s.") % {"audience": Review.Audience(subject.audience).label}
    people = people_sentence(
        subject.audience, subject.people, subject.most_of_a_network, is_least=bool(subject.networks_forgotten)
    )
    counted = ngettext(
        "%(people)s person has counted votes.", "%(people)s people have counted votes.", subject.people
    )  # fmt: skip
    yield people or counted % numbers
    if subject.expected_people is not None:
        yield _("Expected: %(n)s.") % format_numbers(n=subject.expected_people)
    yield _("The review was %(ending)s.") % {"ending": Review.Ending(subject.ended_by).label}


def changes(document: Document, labels: Mapping[str, str]) -> Iterator[str]:
    """Yield what would change the result."""
    if isinstance(document.subject, RunInputs):
        if sentence := power_sentence(document.subject.payload, labels):
            yield sentence
        return
    subject = document.subject.board if isinstance(document.subject, CampaignInputs) else document.subject
    open_differences = [one for one in document.figures.differences if not one.is_apart and one.needed]
    if nearest := min(open_differences, key=lambda one: one.needed or 0, default=None):
        yield _votes_needed(nearest, labels)
    if subject.to_add is not None:
        sentence = ngettext(
            "%(n)s more vote could put %(first)s first.",
            "%(n)s more votes, all for one model against another, could put %(first)s first.", subject.to_add.votes,
        )  # fmt: skip
        yield sentence % {**format_numbers(n=subject.to_add.votes), "first": labels.get(subject.to_add.first, "–")}
    if subject.to_drop is not None:
        sentence = ngettext(
            "Without %(n)s particular vote, %(first)s would be first.",
            "Without %(n)s particular votes, %(first)s would be first.", subject.to_drop.votes,
        )  # fmt: skip
        yield sentence % {**format_numbers(n=subject.to_drop.votes), "first": labels.get(subject.to_drop.first, "–")}


def _votes_needed(difference: Difference, labels: Mapping[str, str]) -> str:
    sentence = ngettext(
        "About %(n)s more vote on the board would tell %(first)s and %(second)s apart, if their difference stays the "
        "same.",
        "About %(n)s more votes on the board would tell %(first)s and %(second)s apart, if their difference stays the "
        "same.", difference.needed or 0,
    )  # fmt: skip
    names = {"first": labels[difference.reference], "second": labels[difference.other]}
    return sentence % {**format_numbers(n=difference.needed or 0), **names}


def price_and_quality(figures: Figures, labels: Mapping[str, str]) -> Iterator[str]:
    front = [labels[line.key] for line in figures.lines if line.on_front]
    beaten = [labels[line.key] for line in figures.lines if line.beaten_in_both]
    if front:
        yield _("No other one is both better and cheaper: %(names)s.") % {"names": listed(front)}
    if beaten:
        sentence = _("A surely better one costs less: %(names)s.")
        yield sentence % {"names": listed(beaten)}


def energy(figures: Figures, labels: Mapping[str, str]) -> str:
    """Return estimates, best one first, and what has none; "" if no energy is known."""
    known = [
        f"{labels[line.key]} {format_watt_hours(line.energy.low, line.energy.high)}"
        for line in figures.lines
        if line.energy
    ]
    if not known:
        return ""
    if figures.unit == "share":
        sentence = _("Energy of an answer of the mean length in this run, as ecologits estimates it: %(energy)s.")
    else:
        sentence = _("Energy of an answer of 1,000 tokens, as ecologits estimates it: %(energy)s.")
    estimates = sentence % {"energy": listed(known)}
    unknown = [labels[line.key] for line in figures.lines if not line.energy]
    if not unknown:
        return estimates
    return f"{estimates} {_('Not known: %(names)s.') % {'names': listed(unknown)}}"


def listed(names: list[str]) -> str:
    more = len(names) - NAMED
    if more <= 1:
        return ", ".join(names)
    return _("%(names)s and %(n)d more") % {"names": ", ".join(names[:NAMED]), "n": more}
