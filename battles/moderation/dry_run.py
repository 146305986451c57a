"""What the rules make of a text that nobody sent: for whoever writes them. Nothing is stored."""

from dataclasses import dataclass, field

from battles.models import Action, ModerationRule
from battles.moderation import endpoint, policy
from battles.moderation.examination import refusing_one
from battles.moderation.findings import Finding
from battles.text.deobfuscation import TextVariant, text_variants
from battles.text.matching import InvalidPattern
from models_registry.health.failure_messages import failure_words
from models_registry.providers.base import ProviderError


@dataclass(frozen=True)
class Fit:
    """A rule, also one that is off, and those of its lines that are found in the text."""

    rule: ModerationRule
    lines: list[str]


@dataclass(frozen=True)
class Trial:
    """`read_as`: the spellings in which the text is looked at. `judged`: what the endpoint found, where it was asked,
    and `problem` why it found nothing."""

    read_as: list[str]
    fits: list[Fit]
    judged: list[Finding] = field(default_factory=list)
    problem: str = ""

    @property
    def refusing(self) -> ModerationRule | None:
        """Whose category the person would be told instead of being answered."""
        refusing = refusing_one([*(Finding(fit.rule) for fit in self.fits), *self.judged])
        return refusing.rule if refusing is not None else None

    @property
    def warnings(self) -> list[str]:
        rules = [*(fit.rule for fit in self.fits), *(finding.rule for finding in self.judged)]
        return list(dict.fromkeys(rule.category_words for rule in rules if rule.action == Action.WARN))

    @property
    def is_in_queue(self) -> bool:
        return bool(self.judged) or any(fit.rule.action != Action.OFF for fit in self.fits)


def tried(text: str, *, ask_endpoint: bool = False) -> Trial:
    """As a first prompt. ask_endpoint: send the text to it, as it would be sent unless a rule refused it before."""
    ways = text_variants([text])
    rules = ModerationRule.objects.exclude(kind=ModerationRule.Kind.ENDPOINT).order_by("pk")
    fits = [Fit(rule, lines) for rule in rules if (lines := _lines_found(rule, ways))]
    read_as = [way.written for way in ways]
    current = policy.current()
    if not ask_endpoint or current.endpoint is None:
        return Trial(read_as, fits)
    try:
        return Trial(read_as, fits, endpoint.ask(current.endpoint, current, [[text]]))
    except ProviderError as error:
        return Trial(read_as, fits, problem=failure_words(error.code))


def _lines_found(rule: ModerationRule, ways: list[TextVariant]) -> list[str]:
    return [line for line in rule.patterns if _is_found(ModerationRule(kind=rule.kind, patterns=[line]), ways)]


def _is_found(rule: ModerationRule, ways: list[TextVariant]) -> bool:
    try:
        return rule.matcher.matches(ways)
    except InvalidPattern:  # another version of the engine took it; the log says so
        return False
