"""Multiple choice: the letter that an answer names."""

import string
from typing import Annotated

import msgspec

from benchmarks.scoring.ports import (
    ScoredAnswer,
    Scorer,
    Settings,
    Target,
    Verdict,
    decided,
    empty_target_error,
    not_extracted,
)
from benchmarks.scoring.reading.choices import LabelKind, find_choice, labels_of
from benchmarks.scoring.refusals import Refusal

# Key of a case's metadata: indices of the choices in the order that its prompt shows.
ORDER_KEY = "choice_order"
# Variable with the choices' texts, as imports name it.
VARIABLE = "choices"
TEXTS_BESIDE_CHOICES = "choice_texts"  # where a column `choices` has another content
_Count = Annotated[int, msgspec.Meta(ge=2, le=26)]
_Texts = Annotated[tuple[str, ...], msgspec.Meta(min_length=2, max_length=26)]


class ChoiceSettings(Settings, frozen=True):
    """choices: their number, or their texts, which an answer may name instead of the label.

    With a number, the texts are the case's variable `choices`, if it is a list of so many. labels: as the prompt
    shows them; numbers count from 1.
    """

    choices: _Count | _Texts = 4
    labels: LabelKind = "letters"

    @property
    def count(self) -> int:
        return self.choices if isinstance(self.choices, int) else len(self.choices)

    def texts(self, variables: dict[str, object]) -> tuple[str, ...]:
        if not isinstance(self.choices, int):
            return self.choices
        listed = variables.get(TEXTS_BESIDE_CHOICES, variables.get(VARIABLE))
        return tuple(map(str, listed)) if isinstance(listed, list) and len(listed) == self.choices else ()

    def index_of(self, value: object) -> int | None:
        """Return the index of a text, a label or an index from 0 of the target; None if there is none."""
        written = str(value).strip()
        if not isinstance(self.choices, int) and isinstance(value, str) and written in self.choices:
            return self.choices.index(written)
        labels = labels_of(self.labels, self.count)
        if written.upper() in labels:
            return labels.index(written.upper())
        is_index = self.labels != "numbers" and written.isascii() and written.isdigit() and not isinstance(value, bool)
        return int(written) if is_index and int(written[:3]) < self.count else None


class ChoiceScorer(Scorer):
    name = "choice"
    version = "2"
    settings = ChoiceSettings

    def target_error(self, target: Target) -> Refusal | str:
        return empty_target_error(target)

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, ChoiceSettings)
        wanted = {settings.index_of(value) for value in target}
        if None in wanted:
            raise ValueError("the target is none of the choices")
        named = find_choice(answer.text, settings.count, settings.texts(answer.variables), settings.labels)
        if named is None:
            return not_extracted("no choice, or more than one")
        index = named.index if named.is_text else self._shown_index(named.index, answer, settings)
        return decided(index in wanted, label=string.ascii_uppercase[index])

    def _shown_index(self, position: int, answer: ScoredAnswer, settings: ChoiceSettings) -> int:
        order = answer.metadata.get(ORDER_KEY)
        if order is None:
            return position
        if not isinstance(order, list) or sorted(order) != list(range(settings.count)):
            raise ValueError("choice_order is not an order of the choices")
        return int(order[position])


SCORERS: tuple[Scorer, ...] = (ChoiceScorer(),)
