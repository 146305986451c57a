"""Facts about a person's runs and votes; a fixed number of queries."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from django.db.models import Count, Exists, F, Func, OuterRef, Q, Subquery, TextField

from accounts.actor import Actor
from accounts.models import Team
from battles.labels.categories import category_names
from battles.models import Vote
from benchmarks import access
from benchmarks.models import Case, Judging, Run, RunReport, Template, TemplateVersion
from benchmarks.statistics.headers import EntrantHeader
from benchmarks.statistics.payload import EntrantUsage, Metric, Pair, TagMean
from reviews.models import Review
from reviews.next_steps.rules import (
    MIN_VOTES,
    Candidate,
    Contrast,
    Dominated,
    Facts,
    TagDifference,
    UncomparedJudge,
    Unit,
)

# The newest finished runs that are looked at; larger ones have reports of megabytes.
MAX_RUNS, MAX_ENTRANTS = 10, 12
# The newest templates, those with more cases left out.
MAX_TEMPLATES, MAX_CASES = 50, 2_000
MAX_VOTES = 200


class _Report(NamedTuple):
    run: str
    template: str
    entrants: list[EntrantHeader]
    metric: Metric
    usage: dict[str, EntrantUsage]
    tags: list[TagMean]

    def label(self, key: str) -> str:
        header = next(entrant for entrant in self.entrants if entrant.entrant == key)
        is_one_of_several = sum(entrant.model == header.model for entrant in self.entrants) > 1
        return " · ".join(filter(None, [header.model, header.prompt_label if is_one_of_several else ""]))

    def cost_per_case(self, *keys: str) -> float:
        return sum(self.usage[key].cost_per_item.value or 0.0 for key in keys)


def run_facts(actor: Actor, place: Team | None) -> Facts:
    """Return the facts of the person's own place, or of a team that they see."""
    if actor.user is None:
        return Facts()
    reports = list(_newest_reports(actor, place))
    votes = _votes_by_category(actor, place)
    is_usual = any(number >= MIN_VOTES for number in votes.values())
    return Facts(
        contrasts=[contrast for report in reports for contrast in _open_contrasts(report)],
        tags=[tag for report in reports for tag in _tag_differences(report)],
        dominated=[dominated for report in reports for dominated in _dominated(report)],
        judges=list(_uncompared_judges(actor, place)),
        votes=votes,
        candidates=list(_candidates(actor, place)) if is_usual else [],
        categories=category_names(None if place is None else place.pk) if is_usual else {},
    )


def _newest_reports(actor: Actor, place: Team | None) -> Iterator[_Report]:
    """Yield the newest report of the newest finished run of each template."""
    own = Q(team=place) if place is not None else Q(team=None, owner=actor.user)
    runs = Run.objects.filter(access.mine(actor, "owner"), own, state=Run.State.DONE, entrant_count__lte=MAX_ENTRANTS)
    newest = RunReport.objects.filter(run=OuterRef("pk")).order_by("-number")
    parts = {
        "entrants_json": "payload__entrants", "metric_json": "payload__metrics__0", "usage_json": "payload__usage",
        "tags_json": "payload__tags",
    }  # fmt: skip
    rows = runs.annotate(**{name: Subquery(newest.values(part)[:1]) for name, part in parts.items()}).order_by("-pk")
    seen = set[str]()
    columns = ("public_id", "version__template__public_id", *parts)
    for run, template, entrants, metric, usage, tags in rows.values_list(*columns)[:MAX_RUNS]:
        if metric is not None and template not in seen:
            seen.add(template)
            used = msgspec.convert(usage, list[EntrantUsage])
            yield _Report(
                run, template, msgspec.convert(entrants, list[EntrantHeader]), msgspec.convert(metric, Metric),
                {figures.entrant: figures for figures in used}, msgspec.convert(tags, list[TagMean]),
            )  # fmt: skip


def _open_contrasts(report: _Report) -> Iterator[Contrast]:
    for pair in report.metric.pairs:
        if pair.is_separable is not False:
            continue
        names, ids = (report.label(pair.first), report.label(pair.second)), (pair.first, pair.second)
        for more, unit, cases in _needs(pair):
            cost = cases * report.cost_per_case(pair.first, pair.second)
            yield Contrast(*names, more, unit, report.run, ids, pair.cases, cost, report.template)


def _needs(pair: Pair) -> Iterator[tuple[int, Unit, float]]:
    """Yield how much more is needed, of which unit, and the cases that are asked for it."""
    if pair.noise == "repeats" and pair.repeats_needed is not None and pair.repeats_needed > 1:
        yield pair.repeats_needed, "repeats", pair.cases * pair.repeats_needed
    elif pair.cases_needed is not None and pair.cases_needed > pair.cases:
        yield pair.cases_needed - pair.cases, "cases", pair.cases_needed - pair.cases


def _tag_differences(report: _Report) -> Iterator[TagDifference]:
    by_tag = defaultdict[str, list[TagMean]](list)
    for mean in report.tags:
        if mean.mean.value is not None:
            by_tag[mean.tag].append(mean)
    for tag, means in by_tag.items():
        best, worst = (choose(means, key=lambda mean: mean.mean.value or 0.0) for choose in (max, min))
        yield TagDifference(
            tag, report.label(best.entrant), report.label(worst.entrant),
            (best.mean.value or 0.0) - (worst.mean.value or 0.0), max(mean.cases for mean in means), report.run,
            report.template, report.cost_per_case(*report.usage),
        )  # fmt: skip


def _dominated(report: _Report) -> Iterator[Dominated]:
    """Yield each winner with entrants that it surely beats, whose cost intervals are above its own."""
    losers = defaultdict[str, list[str]](list)
    for pair in report.metric.pairs:
        difference = pair.difference.value
        if not pair.is_separable or difference is None:
            continue
        winner, loser = (pair.first, pair.second) if difference > 0 else (pair.second, pair.first)
        high, low = report.usage[winner].cost_per_item.high, report.usage[loser].cost_per_item.low
        if report.usage[loser].is_surely_dominated and high is not None and low is not None and high < low:
            losers[winner].append(loser)
    for winner, beaten in losers.items():
        labels = tuple(report.label(key) for key in beaten)
        yield Dominated(report.label(winner), labels, report.run, (winner, beaten[0]), report.template)


def _uncompared_judges(actor: Actor, place: Team | None) -> Iterator[UncomparedJudge]:
    """Yield the judge that was asked last, if the person may begin a review of what it read."""
    own = Q(subject__team=place) if place is not None else Q(subject__team=None, subject__owner=actor.user)
    asked = Judging.objects.filter(own, is_card=False, run__state=Run.State.DONE, subject__entrant_count__gte=2)
    reviewed = Review.objects.exclude(state=Review.State.WITHDRAWN).filter(run__judgings__judge=OuterRef("judge"))
    newest = asked.filter(~Exists(reviewed), judge__archived_at=None).order_by("-pk")
    judging = newest.select_related("judge", "subject__version__template").first()
    if judging is not None and access.may_change(actor, judging.subject):
        run = judging.subject
        yield UncomparedJudge(judging.judge.name, run.name or run.version.template.name, run.public_id)


def _votes_by_category(actor: Actor, place: Team | None) -> dict[str, int]:
    votes = Vote.objects.cast_by(actor).filter(team=place).order_by("-created_at")
    return Counter(category for categories in votes.values_list("categories", flat=True)[:MAX_VOTES]
                   for category in categories)  # fmt: skip


def _candidates(actor: Actor, place: Team | None) -> Iterator[Candidate]:
    """Yield templates of the place and the site that have no run there."""
    is_ours = Q(team=place) if place is not None else Q(team=None, owner_user=actor.user)
    is_sites = Q(visibility=Template.Visibility.SITE)
    runs = Run.objects.filter(access.mine(actor, "owner"), version__template=OuterRef("pk"), team=place)
    frozen = TemplateVersion.objects.filter(template=OuterRef("pk"), state=TemplateVersion.State.FROZEN)
    newest = frozen.order_by("-number")
    templates = list(
        access.readable_templates(actor)
        .filter(is_ours | is_sites, ~Exists(runs), archived_at=None)
        .annotate(version=Subquery(newest.values("pk")[:1]), case_count=Subquery(newest.values("case_count")[:1]))
        .filter(case_count__range=(1, MAX_CASES))
        .order_by("-pk")
        .values_list("public_id", "name", "version", "case_count")[:MAX_TEMPLATES]
    )
    tags = defaultdict[int, dict[str, int]](dict)
    unnested = Func(F("tags"), function="unnest", output_field=TextField())
    cases = Case.objects.filter(version__in=[version for _id, _name, version, _cases in templates])
    for version, tag, number in cases.values_list("version", unnested).annotate(n=Count("pk")).order_by():
        tags[version][tag] = number
    for public_id, name, version, number in templates:
        yield Candidate(public_id, name, number, tags[version])
