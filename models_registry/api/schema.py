from common.api.schema import TEXT, Operation, Operations, Parameter
from common.errors import NotFound
from models_registry.api.views import ModelDetail, ModelList

_TEAM = Parameter("team", "Address of a team of yours: its own models, and the site's that it uses.", TEXT)

OPERATIONS: Operations = {
    (ModelList, "get"): Operation(
        summary="All models",
        description="Also those that are paused or retired: their votes stay on the boards.",
        refuses=(NotFound,),
        parameters=(
            _TEAM,
            Parameter(
                "drawable",
                "Those alone that battles may begin with: active, and set up by an administrator. Whether a model "
                "fails at the moment is not told: it would tell who answers in a blind battle.",
                {"type": "boolean", "default": False},
            ),
        ),
    ),
    (ModelDetail, "get"): Operation(
        summary="One model",
        description="How it stands on the boards: `leaderboard/models/{id}/`.",
        parameters=(_TEAM,),
    ),
}
