from dataclasses import dataclass

from battles.models import ModerationCase, ModerationRule, ModerationVerdict, Turn
from battles.text import deobfuscation


@dataclass(frozen=True)
class Finding:
    """A rule that matched a prompt.

    score, model and version are the endpoint's; for other rules, version is that of the deobfuscation.
    """

    rule: ModerationRule
    score: float | None = None
    model: str = ""
    version: str = deobfuscation.VERSION

    def verdict(self, case: ModerationCase, turn: Turn | None) -> ModerationVerdict:
        """Return an unsaved verdict."""
        return ModerationVerdict(
            case=case, turn=turn, rule=self.rule, category=self.rule.category, action=self.rule.action,
            score=self.score, model=self.model, version=self.version,
        )  # fmt: skip
