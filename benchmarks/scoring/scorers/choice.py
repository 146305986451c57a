"""Multiple choice: the letter that an answer names."""

import string
from typing import Annotated

import msgspec

from benchmarks.scoring.letters import find_letter
from benchmarks.scoring.ports import ScoredAnswer, Scorer, Settings, Target, Verdict, decided, not_extracted

# Key of a case's metadata: indices of the choices in the order that its prompt shows.
ORDER_KEY = "choice_order"
_Count = Annotated[int, msgspec.Meta(ge=2, le=26)]
_Texts = Annotated[tuple[str, ...], msgspec.Meta(min_length=2, max_length=26)]


class ChoiceSettings(Settings, frozen=True):
    """choices: their number, or their texts, which an answer may then name instead of the letter."""

    choices: _Count | _Texts = 4

    @property
    def count(self) -> int:
        return self.choices if isinstance(self.choices, int) else len(self.choices)

    def index_of(self, value: object) -> int | None:
        """Return the index of a letter, an index from 0 or a choice's text; None if there is none."""
        if isinstance(value, int) and not isinstance(value, bool):
            return value if 0 <= value < self.count else None
        written = str(value).strip()
        if not isinstance(self.choices, int) and written in self.choices:
            return self.choices.index(written)
        letters = string.ascii_uppercase[: self.count]
        if len(written) == 1 and written.upper() in letters:
            return letters.index(written.upper())
        return int(written) if written.isascii() and written.isdigit() and int(written[:3]) < self.count else None


class ChoiceScorer(Scorer):
    name = "choice"
    settings = ChoiceSettings

    def target_error(self, target: Target) -> str:
        return "" if target else "the target is empty"

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, ChoiceSettings)
        wanted = {settings.index_of(value) for value in target}
        if None in wanted:
            raise ValueError("the target is none of the choices")
        letter = find_letter(answer.text, settings.count)
        named = settings.index_of(answer.text) if letter is None else self._shown_index(letter, answer, settings)
        if named is None:
            return not_extracted("no letter, or more than one")
        return decided(named in wanted, label=string.ascii_uppercase[named])

    def _shown_index(self, letter: str, answer: ScoredAnswer, settings: ChoiceSettings) -> int:
        position = string.ascii_uppercase.index(letter)
        order = answer.metadata.get(ORDER_KEY)
        if order is None:
            return position
        if not isinstance(order, list) or sorted(order) != list(range(settings.count)):
            raise ValueError("choice_order is not an order of the choices")
        return int(order[position])


SCORERS: tuple[Scorer, ...] = (ChoiceScorer(),)
