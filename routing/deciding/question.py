from dataclasses import dataclass
from decimal import Decimal

from accounts.actor import Actor
from battles.auto.port import Routed, RoutingRequest, Target
from battles.labels import Labels
from battles.prompting.lineup import MIN_NARROWED_POOL
from models_registry import drawable_cache
from models_registry.models import LanguageModel
from models_registry.payers import Payer
from routing.deciding.candidates import Candidates, candidates_for, dollars, within_caps
from routing.deciding.query_types import QueryType, query_type
from routing.deciding.rules import current_policy, first_match
from routing.models import RoutingThresholds, Rule

# Reasons of Candidates.reasons_out that do not depend on cost or time.
UNFIT = {"pool", "images", "tools", "context"}


@dataclass(frozen=True)
class Question:
    """Request and its facts.

    found: models with the abilities for it; allowed: those within caps. budget: US dollars left in the payer's
    `scarce_account`.
    """

    request: RoutingRequest
    labels: Labels
    type: QueryType
    rule: Rule | None
    thresholds: RoutingThresholds
    candidates: Candidates
    allowed: Candidates
    payer: Payer
    scarce_account: str
    budget: Decimal | None

    @classmethod
    def of(cls, request: RoutingRequest, actor: Actor) -> "Question":
        labels = request.known_labels()
        policy = current_policy()
        rule = first_match(policy.rules_in_place(request.team_id), request, labels)
        kind = query_type(request.prompts, labels, request.context, needs_tools=request.needs_tools)
        payer = Payer.of(actor, request.team_id)
        site_pays = request.team_id is None or any(
            model.is_paid and model.provider.team_id is None
            for model in drawable_cache.roster_of(request.team_id).choosable
        )
        scarce_account, budget = payer.scarcest(site_pays=site_pays) if actor.is_known else ("", None)
        pool = rule.pool if rule is not None and rule.target == Rule.Target.POOL else ()
        candidates = candidates_for(request, kind.name, pool=pool, budget=budget)
        caps = [cap for cap in (request.max_cost, None if rule is None else rule.max_cost) if cap is not None]
        allowed = within_caps(candidates, request, min(caps, default=None))
        return cls(request, labels, kind, rule, policy.thresholds, candidates, allowed, payer, scarce_account, budget)

    @property
    def dial(self) -> float:
        chosen = None if self.rule is None else self.rule.dial
        return self.request.dial if chosen is None else chosen

    @property
    def drawn_from(self) -> list[LanguageModel]:
        """Return the allowed models that are drawable, or all if too few are. Only a hidden pair may depend on it."""
        drawable = {model.pk for model in drawable_cache.roster_of(self.request.team_id).drawable}
        models = [model for model in self.allowed.models if model.pk in drawable]
        return models if len(models) >= self._min_drawn_from else self.allowed.models

    @property
    def _min_drawn_from(self) -> int:
        return MIN_NARROWED_POOL if self.allowed.is_narrowed else 2

    @property
    def may_battle(self) -> bool:
        """Return whether a battle is allowed, hides its pair among others, and is affordable with any pair."""
        if not self.request.allow_battle or len(self.allowed.rows) < self._min_drawn_from:
            return False
        if self.budget is None:
            return True
        # All models that fit the question count: battles.prompting.blind_quotes reserves for the most expensive ones.
        highest = self.allowed.table.highest_costs(self.request.total_characters)
        fitting = [cost for row, cost in enumerate(highest) if self.allowed.reasons_out.get(row) not in UNFIT]
        return bool(sum(sorted(fitting)[-2:]) <= float(self.budget))

    def routed(
        self, target: Target, models: tuple[LanguageModel, ...], reason: str, *, policy: str, confidence: float
    ) -> Routed:
        """Return the decision with the facts of the question and of the first model."""
        row = self.candidates.table.rows.get(models[0].slug)
        return Routed(
            target=target,
            models=models,
            query_type=self.type.name,
            type_confidence=self.type.confidence,
            confidence=confidence,
            reason=reason,
            policy=policy,
            labels=self.labels,
            details={} if self.rule is None else {"rule": self.rule.pk},
            dial=self.dial,
            cost_expected=None if row is None else dollars(self.candidates.costs[row]),
        )
