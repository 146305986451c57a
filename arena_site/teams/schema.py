from arena_site.teams.views import BudgetsSerializer, TeamSpending
from common.api.schema import TEXT, Operation, Operations, Parameter
from common.errors import NotAllowed

OPERATIONS: Operations = {
    (TeamSpending, "get"): Operation(
        summary="What a team spent",
        description="In a month, of its budgets: by member at the price of blind answers, by model an hour late. "
        "A member sees the own quota.",
        parameters=(Parameter("month", "Such as `2026-11`; default: this month.", TEXT),),
        refuses=(NotAllowed,),
    ),
    (TeamSpending, "patch"): Operation(
        summary="Change a team's budgets",
        description="In a browser only, by owners and managers. `null`: no limit.",
        takes=BudgetsSerializer,
        example={"month_budget": "200.00", "member_month_budget": "5.00"},
        refuses=(NotAllowed,),
    ),
}
