"""What a rule says about a prompt, before it is kept as a verdict."""

from dataclasses import dataclass

from battles.models import ModerationCase, ModerationRule, ModerationVerdict, Turn
from battles.text import deobfuscation


@dataclass(frozen=True)
class Finding:
    """score, model and version: the endpoint's; of the arena's own rules, the version of how texts are read."""

    rule: ModerationRule
    score: float | None = None
    model: str = ""
    version: str = deobfuscation.VERSION

    def verdict(self, case: ModerationCase, turn: Turn | None) -> ModerationVerdict:
        """Not stored yet."""
        return ModerationVerdict(
            case=case, turn=turn, rule=self.rule, category=self.rule.category, action=self.rule.action,
            score=self.score, model=self.model, version=self.version,
        )  # fmt: skip
