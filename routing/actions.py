from battles.models import RoutingDecision
from routing.models import DecisionOutcome


def report_outcome(*, decision: RoutingDecision, good: bool | None = None, better: str = "") -> DecisionOutcome:
    """Store an application's report, in place of an earlier one."""
    return DecisionOutcome.objects.update_or_create(decision=decision, defaults={"good": good, "better": better})[0]
