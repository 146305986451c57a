"""Matchup of the mode `auto`: a direct chat with the chosen model, or a blind battle of the chosen pair."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from accounts.actor import Actor
from battles.auto.options import AutoOptions
from battles.auto.port import Routed, RoutingRequest, Target, route
from battles.labels.labelling import labels_in_place
from battles.models import Attachment
from battles.prompting.lineup import BattleRequest, MatchupPlan, Mode, ModelRequirements, RoutedPair
from models_registry.models import LanguageModel
from uploads.models import Upload


@dataclass(frozen=True)
class AutoDecision:
    request: RoutingRequest
    routed: Routed
    requirements: ModelRequirements

    @property
    def plan(self) -> MatchupPlan:
        models, others = list(self.routed.models), self.routed.next_models
        if not self.routed.is_battle:
            return MatchupPlan(Mode.DIRECT, models[:1], [], frozenset(), requirements=self.requirements, is_routed=True)
        return MatchupPlan(
            Mode.BLIND, [], [*models, *others], frozenset(), requirements=self.requirements, is_routed=True,
            routed_pair=RoutedPair(models[0], models[1], self.routed.propensity),
        )  # fmt: skip

    def without(self, is_excluded: Callable[[LanguageModel], bool]) -> "AutoDecision | None":
        """Return the decision for the best of the other models, or None if there is none."""
        if not any(is_excluded(model) for model in self.routed.models):
            return self
        others = [model for model in self.routed.next_models if not is_excluded(model)]
        if not others:
            return None
        alternatives = tuple(each for each in self.routed.alternatives if not is_excluded(each.model))
        routed = replace(
            self.routed, target=Target.FALLBACK, models=(others[0],), runner_up=None, reason="fallback", details={},
            explored=False, propensity=1.0, win_chance=None, alternatives=alternatives,
            cost_expected=next((each.cost for each in alternatives if each.model == others[0]), None),
        )  # fmt: skip
        return replace(self, routed=routed)


def decide(
    actor: Actor,
    prompt: str,
    battle_request: BattleRequest,
    options: AutoOptions,
    requirements: ModelRequirements,
    uploads: Sequence[Upload],
    *,
    team_id: int | None = None,
) -> AutoDecision:
    """Raises as routing.route."""
    request = RoutingRequest(
        (prompt,),
        labels=labels_in_place(team_id, [prompt], files=[Attachment.facts(upload) for upload in uploads]),
        needs_images=requirements.images,
        characters=requirements.characters,
        context=options.context,
        dial=options.dial,
        max_cost=options.max_cost,
        models=battle_request.models,
        token=actor.token,
        team_id=team_id,
    )
    return AutoDecision(request, route(request, actor), requirements)
