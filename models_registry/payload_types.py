from typing import Literal, TypedDict

LicenseKind = Literal["", "open", "proprietary"]
Status = Literal["", "active", "paused", "retired"]


class ModelPayload(TypedDict):
    """A language model. `id` is its slug; prices are US dollars per million tokens, null while unknown."""

    id: str
    name: str
    organization: str
    license: str
    license_kind: LicenseKind
    context_length: int | None
    abilities: list[str]
    # On an imported board, a name without a model here has an empty status and no version.
    status: Status
    price_input: str | None
    price_output: str | None
    version: int | None
