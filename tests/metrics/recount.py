"""The figures of a day in plain Python from the site's rows: independent of metrics.rollup."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal

from battles.models import Answer, Battle, Call, RoutingDecision, Vote
from models_registry.models import SpendingDay

Row = tuple[str, int | None, str, str, str]
Facts = Iterator[tuple[str, int | None, str, str, int, Decimal | float, int | None]]
VOTED_MODES = ("blind", "side_by_side")


def is_on(at: datetime | None, first: date, last: date) -> bool:
    return at is not None and first <= at.date() <= last


class Recount:
    """until, last_order: as metrics.rollup.families.Reveal."""

    def __init__(self, until: datetime, last_order: int) -> None:
        self.until, self.last_order = until, last_order
        self.battles = list(
            Battle.objects.select_related("session", "vote").prefetch_related("sides", "turns__answers")
        )
        self.votes = list(Vote.objects.select_related("battle").prefetch_related("battle__turns"))
        self.calls = list(Call.objects.select_related("model", "answer__turn__battle__session"))
        self.voted = {vote.battle_id: vote for vote in self.votes}

    def of_day(self, day: date) -> dict[Row, tuple[int, Decimal, list[int]]]:
        rows: dict[Row, tuple[int, Decimal, Counter[int]]] = defaultdict(lambda: (0, Decimal(0), Counter()))
        facts = [*self.use(day), *self.of_votes(day), *self.funnel(day), *self.of_calls(day), *self.costs(day)]
        facts += [*self.router(day), *self.of_site(day), *self.spending(day)]
        for metric, team, dim, key, n, total, bucket in facts:
            before = rows[metric, team, "day", dim, key]
            if bucket is not None:
                before[2][bucket] += 1
            rows[metric, team, "day", dim, key] = (before[0] + n, before[1] + Decimal(total), before[2])
        for row, counted in self.people(day, day, "day").items():
            rows[row] = (*counted[:2], Counter(dict(counted[2])))
        return {
            row: (n, round(total, 8), [number for pair in sorted(buckets.items()) for number in pair])
            for row, (n, total, buckets) in rows.items()
        }

    def of_site(self, day: date) -> Facts:
        people: set[tuple[str, str, str, str]] = set()
        for battle in self.battles:
            if not is_on(battle.created_at, day, day) or battle.session.team_id or battle.mode == "review":
                continue
            labels = [("", ""), ("language", battle.language), *(("category", key) for key in battle.categories)]
            facts = [("site_battles", "site_people", *label) for label in labels]
            facts += [("site_votes", "site_voters", "", "")] if battle.pk in self.voted else []
            for metric, of_people, dim, key in facts:
                yield metric, None, dim, key, 1, 1, None
                people.add((of_people, dim, key, battle.session.person))
        for metric, dim, key, person in people:
            if person:
                yield metric, None, dim, key, 1, 1, None

    def people(self, first: date, last: date, span: str) -> dict[Row, tuple[int, Decimal, dict[int, int]]]:
        begun: dict[tuple[int | None, str, str], Counter[str]] = defaultdict(Counter)
        for battle in self.battles:
            if is_on(battle.created_at, first, last) and battle.session.person:
                for team in self._places(battle.session.team_id):
                    for dim, key in (("", ""), ("mode", battle.mode), ("language", battle.language)):
                        begun[team, dim, key][battle.session.person] += 1
        rows: dict[Row, tuple[int, Decimal, dict[int, int]]] = {}
        for (team, dim, key), counts in begun.items():
            rows["active_people", team, span, dim, key] = (len(counts), Decimal(len(counts)), {})
            rows["battles_per_person", team, span, dim, key] = (
                len(counts), Decimal(counts.total()), dict(Counter(counts.values())),
            )  # fmt: skip
        return rows

    def use(self, day: date) -> Facts:
        for battle in self.battles:
            if not is_on(battle.created_at, day, day):
                continue
            dims = [("", ""), ("mode", battle.mode), ("language", battle.language)]
            dims.append(("models", str(len(battle.sides.all()))))
            for team in self._places(battle.session.team_id):
                for dim, key in dims:
                    yield "battles", team, dim, key, 1, 1, None
                    if battle.mode in VOTED_MODES and battle.voided_at is None:
                        yield "votes_per_battle", team, dim, key, 1, int(battle.pk in self.voted), None

    def of_votes(self, day: date) -> Facts:
        for vote in self.votes:
            if not is_on(vote.created_at, day, day):
                continue
            ended = max(turn.finished_at for turn in vote.battle.turns.all())
            seconds = (vote.created_at - ended).total_seconds()
            for team in self._places(vote.team_id):
                for dim, key in (("", ""), ("mode", vote.mode), ("language", vote.language)):
                    yield "counted_share", team, dim, key, 1, int(vote.excluded_reason == ""), None
                    yield "time_to_vote", team, dim, key, 1, seconds, self._bucket(seconds)
                if vote.excluded_reason:
                    yield "excluded_votes", team, "", "", 1, 1, None
                    yield "excluded_votes", team, "reason", vote.excluded_reason, 1, 1, None
            is_known = (vote.order or 0) <= self.last_order and vote.created_at < self.until
            if vote.mode == "blind" and not vote.excluded_reason and is_known:
                points = {"left": (1, 0), "right": (0, 1)}.get(vote.choice, (0.5, 0.5))
                place = None if vote.on_site_boards else vote.team_id
                yield "win_rate", place, "model", str(vote.model_left_id), 1, points[0], None
                yield "win_rate", place, "model", str(vote.model_right_id), 1, points[1], None

    def funnel(self, day: date) -> Facts:
        for battle in self.battles:
            if not is_on(battle.created_at, day, day) or battle.mode not in VOTED_MODES:
                continue
            vote, [turn] = self.voted.get(battle.pk), battle.turns.all()
            steps = {
                "begun": True,
                "whole": all(answer.state == Answer.State.DONE for answer in turn.answers.all()),
                "voted": vote is not None,
                "feedback": vote is not None and bool(vote.tags),
                "again": any(
                    other.session_id == battle.session_id and other.created_at > battle.created_at
                    for other in self.battles
                ),
                "void": battle.voided_at is not None,
                "stopped": turn.stop_requested_at is not None,
                "open": vote is None and battle.voided_at is None,
            }
            for team in self._places(battle.session.team_id):
                for dim, key in (("", ""), ("mode", battle.mode), ("language", battle.language)):
                    for step, is_so in steps.items():
                        yield f"funnel_{step}", team, dim, key, 1, int(is_so), None

    def is_known(self, battle: Battle) -> bool:
        vote = self.voted.get(battle.pk)
        is_counted = vote is not None and (vote.order or 0) <= self.last_order
        return battle.mode != "blind" or is_counted or battle.voided_at is not None

    def of_calls(self, day: date) -> Facts:
        for call in self.calls:
            battle = call.answer.turn.battle
            if not is_on(call.started_at, day, day) or not self.is_known(battle):
                continue
            for team in self._places(battle.session.team_id):
                dims = [("", ""), ("mode", battle.mode)]
                if call.model.team_id is None or team is not None:
                    dims.append(("model", str(call.model_id)))
                for dim, key in dims:
                    yield from self._of_call(call, team, dim, key)
                if call.state == "failed":
                    yield "failures", team, "", "", 1, 1, None
                    yield "failures", team, "code", call.error, 1, 1, None

    def _of_call(self, call: Call, team: int | None, dim: str, key: str) -> Facts:
        place = (team, dim, key)
        first, total = call.first_token_ms, call.total_ms
        if call.state == "done":
            yield "first_token", *place, 1, first, self._bucket(first)
            yield "answer_time", *place, 1, total, self._bucket(total)
            if total > first and call.completion_tokens:
                speed = Decimal(call.completion_tokens) / (Decimal(total - first) / 1000)
                yield "tokens_per_second", *place, 1, round(speed, 16), self._bucket(float(speed))
        yield "failed_share", *place, 1, int(call.state == "failed"), None
        yield "empty_share", *place, 1, 0, None
        yield "cut_off_share", *place, 1, int(call.finish_reason == "length"), None
        yield "refused_share", *place, 1, 0, None
        if call.cost is not None:
            yield "cost", *place, 1, call.cost, None
            yield "cost_per_1000_tokens", *place, 10 + call.completion_tokens, 1000 * call.cost, None

    def costs(self, day: date) -> Facts:
        costs: dict[int, Decimal] = defaultdict(Decimal)
        for call in self.calls:
            costs[call.answer.turn.battle_id] += call.cost or 0
        for battle in self.battles:
            if not is_on(battle.created_at, day, day) or not self.is_known(battle):
                continue
            vote, cost = self.voted.get(battle.pk), costs[battle.pk]
            for team in self._places(battle.session.team_id):
                for dim, key in (("", ""), ("mode", battle.mode)):
                    yield "cost_per_battle", team, dim, key, 1, cost, None
                    if battle.mode in VOTED_MODES:
                        counted = vote is not None and not vote.excluded_reason
                        yield "cost_per_vote", team, dim, key, int(counted), cost, None

    def router(self, day: date) -> Facts:
        for decision in RoutingDecision.objects.all():
            if not is_on(decision.created_at, day, day):
                continue
            is_free = decision.target in ("model", "arena") and decision.policy not in ("rule 3", "stay")
            for team in self._places(decision.team_id):
                for dim, key in (("", ""), ("target", decision.target), ("type", decision.query_type)):
                    yield "decisions", team, dim, key, 1, 1, None
                if is_free:
                    yield "explored_share", team, "", "", 1, int(decision.explored), None
                if decision.target in ("model", "stay", "fallback"):
                    yield "fallback_share", team, "", "", 1, int(decision.target == "fallback"), None
                if decision.target == "model" and decision.cost_best is not None:
                    yield "saved", team, "", "", 1, decision.cost_best - decision.cost_expected, None
                    yield "best_cost", team, "", "", 1, decision.cost_best, None

    def spending(self, day: date) -> Facts:
        for row in SpendingDay.objects.filter(day=day):
            kind, _, rest = row.account.partition(":")
            if kind == "site" or (kind == "team" and "/" not in rest):
                team = int(rest) if rest else None
                yield "spent", team, "", "", 1, row.spent, None
                yield "unsettled", team, "", "", 1, row.reserved, None

    def back(self, day: date) -> tuple[int, int]:
        """Return the battles of the day, and those whose person came back."""
        begun = [
            battle for battle in self.battles
            if is_on(battle.created_at, day, day) and battle.mode in VOTED_MODES and battle.session.person
        ]  # fmt: skip
        back = [
            battle for battle in begun
            if any(
                is_on(other.created_at, day + timedelta(days=1), day + timedelta(days=7))
                and other.session.person == battle.session.person
                for other in self.battles
            )
        ]  # fmt: skip
        return len(begun), len(back)

    @staticmethod
    def _places(team: int | None) -> list[int | None]:
        return [None] if team is None else [None, team]

    @staticmethod
    def _bucket(value: float) -> int:
        return math.floor(math.log(max(value, 0.1)) / math.log(1.12))
