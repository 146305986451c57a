"""The models, as OpenAPI describes them."""

from typing import Literal, TypedDict

from common.api.schema import Operation, Operations, Parameter
from models_registry.api.views import ModelDetail, ModelList


class Model(TypedDict):
    """A language model. `id` is its slug; prices are US dollars per million tokens, null while unknown."""

    id: str
    name: str
    organization: str
    license: str
    license_kind: Literal["", "open", "proprietary"]
    context_length: int | None
    abilities: list[str]
    # On an imported board: empty, and no version, for a name that is no model of the arena.
    status: Literal["", "active", "paused", "retired"]
    price_input: str | None
    price_output: str | None
    version: int | None


OPERATIONS: Operations = {
    (ModelList, "get"): Operation(
        summary="All models",
        description="Also those that are paused or retired: their votes stay on the boards.",
        gives=Model,
        is_list=True,
        parameters=(
            Parameter(
                "drawable",
                "Those alone that battles may begin with: active, and set up by an administrator. Whether a model "
                "fails at the moment is not told: it would tell who answers in a blind battle.",
                {"type": "boolean", "default": False},
            ),
        ),
    ),
    (ModelDetail, "get"): Operation(
        summary="One model", description="How it stands on the boards: `leaderboard/models/{id}/`.", gives=Model
    ),
}
