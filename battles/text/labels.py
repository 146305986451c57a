from dataclasses import dataclass

# The language of a prompt that could be several or none (ISO 639-2).
UNDETERMINED = "und"


@dataclass(frozen=True)
class Labels:
    """Boards that a counted vote adds to besides Overall. categories: sorted keys; language: ISO 639-1 or "und"."""

    categories: tuple[str, ...] = ()
    language: str = UNDETERMINED


@dataclass(frozen=True)
class LabelChange:
    vote_id: int
    before: Labels
    after: Labels
