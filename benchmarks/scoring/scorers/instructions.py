"""Verifiable instructions in the names and settings of IFEval's data.

Source: J. Zhou et al., "Instruction-Following Evaluation for Large Language Models", 2023, arXiv:2311.07911.
Different from its own program: sentences by sentencex, languages by fastText, keywords as literal texts.
"""

from typing import Literal

import msgspec

from benchmarks.scoring.ports import ScoredAnswer, Scorer, Settings, Target, Verdict
from benchmarks.scoring.refusals import Refusal, read_refusal
from benchmarks.scoring.scorers.instruction_rules import RULES, Rule


class InstructionSettings(Settings, frozen=True):
    """Both lists as IFEval has them: one dictionary of settings for each rule, in which null counts as absent."""

    instruction_id_list: tuple[str, ...]
    kwargs: tuple[dict[str, object], ...] = ()
    mode: Literal["strict", "loose"] = "strict"

    def __post_init__(self) -> None:
        if not self.instruction_id_list:
            raise Refusal("instruction_missing")
        self.rules()

    def rules(self) -> list[Rule]:
        kwargs = self.kwargs or ({},) * len(self.instruction_id_list)
        if len(kwargs) != len(self.instruction_id_list):
            raise Refusal("instruction_lists_differ")
        return [_rule(name, settings) for name, settings in zip(self.instruction_id_list, kwargs, strict=True)]


class Instructions(Scorer):
    """Returns the share of rules that are kept; passes if all are."""

    name = "instructions"
    settings = InstructionSettings

    def score(self, answer: ScoredAnswer, target: Target, settings: msgspec.Struct) -> Verdict:
        assert isinstance(settings, InstructionSettings)
        texts = [answer.text] if settings.mode == "strict" else _loose_readings(answer.text)
        texts = [text for text in texts if text.strip()]
        rules = settings.rules()
        kept = [any(rule.is_kept(text) for text in texts) for rule in rules]
        broken = [name for name, is_kept in zip(settings.instruction_id_list, kept, strict=True) if not is_kept]
        return Verdict(value=sum(kept) / len(rules), passed=not broken, detail=", ".join(broken))


def _rule(name: str, settings: dict[str, object]) -> Rule:
    if name not in RULES:
        raise Refusal("instruction_unknown", name=repr(name[:100]))
    try:
        return msgspec.convert({key: value for key, value in settings.items() if value is not None}, RULES[name])
    except msgspec.ValidationError as error:
        refusal = read_refusal(error)
        refusal.places += (name,)
        raise refusal from None


def _loose_readings(text: str) -> list[str]:
    """Return IFEval's eight: without the first line, the last, both; each also without asterisks."""
    lines = text.split("\n")
    readings = [text, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return readings + [reading.replace("*", "") for reading in readings]


SCORERS: tuple[Scorer, ...] = (Instructions(),)
