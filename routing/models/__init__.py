from routing.models.outcomes import DecisionOutcome
from routing.models.rules import RoutingThresholds, Rule, RuleQuerySet
from routing.models.snapshots import RouterEvaluation, RouterSnapshot, RouterSnapshotQuerySet

__all__ = [
    "DecisionOutcome",
    "RouterEvaluation",
    "RouterSnapshot",
    "RouterSnapshotQuerySet",
    "RoutingThresholds",
    "Rule",
    "RuleQuerySet",
]
