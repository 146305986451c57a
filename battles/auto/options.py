"""Options of the mode `auto`, in which the arena chooses between a model and a battle."""

from dataclasses import dataclass
from decimal import Decimal
from typing import TypedDict

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from battles.models import Battle

AUTO = "auto"
_STARTED_MODES = [(mode.value, mode.label) for mode in Battle.Mode if mode is not Battle.Mode.REVIEW]
REQUESTED_MODES = [*_STARTED_MODES, (AUTO, _("auto"))]
# Dials by the names that pages and the gateway's models have for them: 0 is the cheapest model, 1 the best.
DIALS = {"cheap": 0.2, "balanced": 0.5, "best": 1.0}
DIAL_LABELS: dict[str, Promise] = {"cheap": _("Low cost"), "balanced": _("Balanced"), "best": _("Best answer")}
DEFAULT_DIAL = DIALS["balanced"]
MAX_WORKFLOW_CHARACTERS = 40
# An hour.
MAX_FIRST_TOKEN_MS = 3_600_000


class StoredContext(TypedDict, total=False):
    tools: bool
    data_loaded: bool
    workflow: str


@dataclass(frozen=True)
class RoutingContext:
    """Facts that the caller's application states: it has tools, it has data of its own, the step it is in."""

    tools: bool = False
    data_loaded: bool = False
    workflow: str = ""

    @property
    def as_json(self) -> StoredContext:
        """Return the facts that are set."""
        stored: StoredContext = {}
        if self.tools:
            stored["tools"] = True
        if self.data_loaded:
            stored["data_loaded"] = True
        if self.workflow:
            stored["workflow"] = self.workflow
        return stored


NO_CONTEXT = RoutingContext()


@dataclass(frozen=True)
class AutoOptions:
    """max_cost: US dollars expected for the answer."""

    context: RoutingContext = NO_CONTEXT
    dial: float = DEFAULT_DIAL
    max_cost: Decimal | None = None


def dial_name(dial: float) -> str:
    """Return the name of the nearest dial in DIALS."""
    return min(DIALS, key=lambda name: abs(DIALS[name] - dial))
