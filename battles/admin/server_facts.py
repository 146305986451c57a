"""Recorded facts of models for models_registry.health.setup_problems: calls of battles an hour late, all others now."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property

from django.db.models import Count, Max, Min, Q
from django.utils import timezone
from django.utils.functional import Promise

from battles.models import Call
from common.payload_types import JsonObject
from common.valkey.connections import UNREACHABLE
from models_registry.health import oddities, server_tests
from models_registry.health.oddities import KEPT, LATE_BY, SeenOddity
from models_registry.health.oddity_messages import ODDITY_MESSAGES
from models_registry.health.server_tests import ServerTest
from models_registry.health.setup_problems import Facts, Problem, find_problems
from models_registry.models import Catalogue, LanguageModel, RequestRepair
from models_registry.models.inquiries import inquiries_exist
from models_registry.providers import ChatRequest, FailureCode
from models_registry.providers.oddities import Oddity
from models_registry.providers.repairs import apply_repair

HOUR = timedelta(hours=1)
# Fewer answers do not tell that every answer ends by length.
MIN_ANSWERS, LENGTH_SHARE = 5, 0.8
# Callers of the gateway choose parameters themselves.
_OF_CALLERS = {FailureCode.UNSUPPORTED, FailureCode.REJECTED}


@dataclass
class Ends:
    """Ends of a model's calls. errors: when each failure came last."""

    errors: dict[str, datetime] = field(default_factory=dict)
    answered_at: datetime | None = None
    stopped_test_at: datetime | None = None
    cut_at: datetime | None = None
    answers: int = 0
    cut: int = 0
    refused_tokens: int | None = None

    @property
    def failures(self) -> frozenset[str]:
        """Return those since the last answer."""
        return frozenset(code for code, at in self.errors.items() if not self.answered_at or at > self.answered_at)

    @property
    def end_by_length(self) -> bool:
        is_tested = self.stopped_test_at and self.cut_at and self.stopped_test_at > self.cut_at
        return self.answers >= MIN_ANSWERS and self.cut >= LENGTH_SHARE * self.answers and not is_tested

    def add(self, row: JsonObject) -> None:
        last, code, purpose = row["last"], row["error"], row["purpose"]
        if not code:
            self.answered_at = max(last, self.answered_at or last)
            if purpose == Call.Purpose.TEST and row["finish_reason"] != "length":
                self.stopped_test_at = max(last, self.stopped_test_at or last)
            if purpose != Call.Purpose.PROBE:
                self.answers += row["n"]
            if purpose != Call.Purpose.PROBE and row["finish_reason"] == "length":
                self.cut, self.cut_at = self.cut + row["n"], max(last, self.cut_at or last)
        elif not (purpose == Call.Purpose.GATEWAY and code in _OF_CALLERS):
            self.errors[code] = max(last, self.errors.get(code, last))
            if code == FailureCode.PROMPT_TOO_LONG and row["tokens"]:
                self.refused_tokens = min(row["tokens"], self.refused_tokens or row["tokens"])

    @property
    def shortest_refused(self) -> int | None:
        """Return the tokens of the shortest prompt that was too long, unless a test was answered since."""
        at, tested = self.errors.get(FailureCode.PROMPT_TOO_LONG), self.stopped_test_at
        return None if at is None or (tested and tested > at) else self.refused_tokens


def shown_until(now: datetime) -> datetime:
    """Return the beginning of the first hour whose calls of battles are not shown."""
    return (now - LATE_BY).replace(minute=0, second=0, microsecond=0)


def ends_of(model_ids: Sequence[int]) -> dict[int, Ends]:
    now = timezone.now()
    is_shown = ~Q(purpose=Call.Purpose.ANSWER) | Q(started_at__lt=shown_until(now))
    rows = (
        Call.objects.filter(
            is_shown, model__in=model_ids, started_at__gte=now - KEPT, state__in=[Call.State.DONE, Call.State.FAILED]
        )
        .order_by()
        .values("model_id", "purpose", "error", "finish_reason")
        .annotate(n=Count("pk"), last=Max("started_at"), tokens=Min("prompt_tokens"))
    )
    ends: dict[int, Ends] = defaultdict(Ends)
    for row in rows:
        ends[row["model_id"]].add(dict(row))
    return ends


@dataclass
class Server:
    """A model, what its server sends and what is wrong."""

    model: LanguageModel
    ends: Ends
    seen: list[SeenOddity]
    repairs: list[RequestRepair]
    test: ServerTest | None
    listed_context: int | None

    @cached_property
    def problems(self) -> list[Problem]:
        return find_problems(self.facts)

    @property
    def tested_at(self) -> datetime | None:
        return datetime.fromtimestamp(self.test.at, UTC) if self.test is not None else None

    @property
    def sentences(self) -> list[tuple[SeenOddity, Promise]]:
        return [(seen, ODDITY_MESSAGES[seen.kind]) for seen in sorted(self.seen, key=lambda seen: -seen.number)]

    @property
    def current_oddities(self) -> frozenset[Oddity]:
        """Return those of an answered test and after its hour, otherwise all."""
        if self.test is None or self.test.error:
            return frozenset(seen.kind for seen in self.seen) | frozenset(self.test.oddities if self.test else ())
        tested = self.tested_at
        later = (seen.kind for seen in self.seen if tested and seen.last_seen > tested)
        return frozenset(self.test.oddities).union(later)

    @property
    def facts(self) -> Facts:
        model, provider = self.model, self.model.provider
        return Facts(
            base_url=provider.base_url, chosen_kind=provider.kind, needs_key=provider.needs_key,
            has_key=provider.has_key, has_price=model.price is not None, needs_finish=provider.finish_reason_required,
            context=model.context_length, listed_context=self.listed_context, abilities=frozenset(model.abilities),
            oddities=self.current_oddities, failures=self.ends.failures, refused_tokens=self.ends.shortest_refused,
            repairs=tuple(filter(self._changes_own, self._repairs_by_servers)), ends_by_length=self.ends.end_by_length,
        )  # fmt: skip

    @property
    def _repairs_by_servers(self) -> list[str]:
        kept = {row.repair for row in self.repairs if row.expires_at is None and row.due_at is None}
        repairs = [row.repair for row in self.repairs if row.state != RequestRepair.State.REFUTED]
        repairs += self.test.repairs if self.test else ()
        return [name for name in dict.fromkeys(repairs) if name not in kept]

    def _changes_own(self, repair: str) -> bool:
        request = ChatRequest("", "", "", [], self.model.sent_parameters, {})
        return apply_repair(repair, request) != request


def read_servers(models: Sequence[LanguageModel], seen: Sequence[SeenOddity]) -> list[Server]:
    """models: with provider selected and prices prefetched. A fixed number of queries."""
    ids = [model.pk for model in models]
    ends = ends_of(ids)
    by_model: dict[int, list[SeenOddity]] = defaultdict(list)
    for oddity in seen:
        by_model[oddity.model_id].append(oddity)
    repairs: dict[int, list[RequestRepair]] = defaultdict(list)
    for repair in RequestRepair.objects.filter(model__in=ids).order_by("repair") if inquiries_exist() else ():
        repair.model = next(model for model in models if model.pk == repair.model_id)
        repairs[repair.model_id].append(repair)
    tests: dict[int, ServerTest] = {}
    with suppress(*UNREACHABLE):
        tests = server_tests.read(ids)
    contexts = _listed_contexts({model.provider_id for model in models})
    return [
        Server(
            model, ends[model.pk], by_model[model.pk], repairs[model.pk], tests.get(model.pk),
            contexts.get((model.provider_id, model.upstream_name)),
        )
        for model in models
    ]  # fmt: skip


def _listed_contexts(providers: set[int]) -> dict[tuple[int, str], int]:
    return {
        (catalogue.provider_id, offer.upstream_name): offer.context_length
        for catalogue in Catalogue.objects.filter(provider__in=providers)
        for offer in catalogue.offers
        if offer.context_length
    }


def read_oddities() -> list[SeenOddity]:
    """Return nothing without Valkey."""
    with suppress(*UNREACHABLE):
        return oddities.read()
    return []
