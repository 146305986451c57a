"""OpenAPI operations of auto mode."""

from battles.errors import BudgetReached, NoModelAvailable, NoModelFits
from battles.models import RoutingDecision
from common.api.schema import TEXT, Operation, Operations, Parameter, one_of
from common.errors import NotFound, TooManyRequests
from routing.api.serializers import OutcomeSerializer, RouteRequestSerializer
from routing.api.views import DecisionViewSet, Route, SnapshotList

OPERATIONS: Operations = {
    (Route, "post"): Operation(
        summary="Decide which model suits a prompt best",
        description="Starts nothing and calls no model. Send `prompt`, or `messages` as to `/v1/chat/completions`. "
        "`context` has facts that rules decide by: the application has `tools`, it has `data_loaded`, it is "
        "in a `workflow`. `dial` is a number from 0 (cheapest) to 1 (best), or `cheap`, `balanced` or `best`. "
        "`max_cost` limits the expected US dollars of the answer, `max_first_token_ms` the model's usual time until "
        "its first text; `models` narrows the choice, `team` names the place. With the target `arena` "
        "the question is worth a battle: the models stay hidden until its vote. `POST sessions/` with the mode `auto` "
        "decides and starts it. Of the prompt nothing is stored.",
        takes=RouteRequestSerializer,
        example={"prompt": "Name three rivers.", "dial": 0.5},
        refuses=(NotFound, TooManyRequests, NoModelFits, BudgetReached, NoModelAvailable),
    ),
    (DecisionViewSet, "list"): Operation(
        summary="Your decisions, the latest first",
        description="Those of `route/`, of sessions in the mode `auto` and of the gateway. They are deleted after some "
        "time.",
        parameters=(
            Parameter("target", "Decisions of one kind.", one_of(*RoutingDecision.Target.values)),
            Parameter("query_type", "Decisions about one type of question, such as `coding`.", TEXT),
            Parameter("team", "The address of a team: your decisions in it; empty: personal ones.", TEXT),
            Parameter("session", "The id of a session: its decisions.", TEXT),
        ),
        refuses=(NotFound,),
    ),
    (DecisionViewSet, "retrieve"): Operation(
        summary="A decision", description="The models of a battle are hidden until its vote."
    ),
    (DecisionViewSet, "outcome"): Operation(
        summary="Report what became of a decision",
        description="`good` says whether the answer was, `better` which model your application found better. A later "
        "report replaces an earlier one. It trains nothing until the operator allows it: it is not a vote.",
        takes=OutcomeSerializer,
        example={"good": True},
    ),
    (SnapshotList, "get"): Operation(
        summary="Trainings of auto mode, the latest first",
        description="With the figures of its parts on held-out votes. The newest published one decides.",
        parameters=(Parameter("team", "The address of a team: its own trainings.", TEXT),),
        refuses=(NotFound,),
    ),
}
