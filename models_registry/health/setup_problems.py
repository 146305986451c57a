"""Problems of a model's set-up, from recorded facts: each with one sentence and the field to change."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from models_registry.providers.base import FailureCode
from models_registry.providers.kinds import DIALECTS, ProviderKind, guess_kind
from models_registry.providers.oddities import Oddity
from models_registry.providers.repairs import parameter_of

REASONING_IN_TEXT = {Oddity.TAGGED_REASONING, Oddity.UNOPENED_REASONING, Oddity.CHANNELS}


@dataclass(frozen=True)
class Facts:
    """failures: since the last answer. repairs: that change the model's own requests and are no settings.

    refused_tokens: of the shortest prompt that was refused as too long. listed_context: by the provider's list.
    """

    base_url: str
    chosen_kind: str
    needs_key: bool
    has_key: bool
    has_price: bool
    needs_finish: bool
    context: int | None
    listed_context: int | None
    abilities: frozenset[str]
    oddities: frozenset[Oddity]
    failures: frozenset[str]
    refused_tokens: int | None
    repairs: tuple[str, ...]
    ends_by_length: bool

    @property
    def kind(self) -> ProviderKind:
        return ProviderKind(self.chosen_kind) if self.chosen_kind else guess_kind(self.base_url)


@dataclass(frozen=True)
class Problem:
    """field: “provider.” or “model.” and a form's field, or “test” for the page that shows the provider's words."""

    field: str
    sentence: str


_BY_FAILURE: dict[str, tuple[str, Promise]] = {
    FailureCode.UNREACHABLE: ("provider.base_url", _("Its server does not answer: start it, or correct the address.")),
    FailureCode.ADDRESS_REFUSED: (
        "provider.base_url",
        _("Its address is in a network that this arena does not call: enter another address."),
    ),
    FailureCode.UNKNOWN_ADDRESS: (
        "provider.base_url",
        _("There is no chat interface at its address: correct the address."),
    ),
    FailureCode.REDIRECTED: ("provider.base_url", _("Its address has moved: enter the new address.")),
    FailureCode.NOT_A_STREAM: (
        "provider.base_url",
        _("Its address answers with a page or something else: enter the address of its chat interface."),
    ),
    FailureCode.ANOTHER_API: (
        "provider.base_url",
        _("Its address speaks another API: enter the one for OpenAI clients, mostly with “/v1” at its end."),
    ),
    FailureCode.NO_KEY: ("provider.key", _("Its key is missing or cannot be read: enter it.")),
    FailureCode.REFUSED_KEY: ("provider.key", _("It refuses the key: enter a valid one.")),
    FailureCode.FORBIDDEN: ("provider.key", _("It forbids the call: enter a key that may use this model.")),
    FailureCode.ACCOUNT: ("provider.key", _("The account has no credit or quota: pay there, or enter another key.")),
    FailureCode.UNKNOWN_MODEL: ("model.upstream_name", _("It does not serve this name: enter a name of its list.")),
    FailureCode.ONLY_REASONING: (
        "model.parameters",
        _(
            "It sends its reasoning without an answer: start it with a reasoning parser, or switch reasoning off in "
            "the parameters."
        ),
    ),
    FailureCode.NO_ROOM: ("model.parameters", _("It reaches its limit of tokens before it answers: raise the limit.")),
    FailureCode.FIRST_TIMEOUT: (
        "provider.first_s",
        _("It begins too late: keep its model loaded, or allow more seconds for the first token."),
    ),
    FailureCode.RATE_LIMITED: ("provider.calls_at_once", _("It refuses calls as too many: allow fewer calls at once.")),
    FailureCode.UNSUPPORTED: (
        "provider.kind",
        _("It refuses a part of the request: choose its kind, or remove the parameter that its own words name."),
    ),
}
# Neither says something about the set-up.
_NO_PROBLEM = {
    FailureCode.PROMPT_TOO_LONG, FailureCode.FILTERED, FailureCode.INTERRUPTED, FailureCode.OVER_BUDGET,
    FailureCode.TOO_LONG,
}  # fmt: skip


def find_problems(facts: Facts) -> list[Problem]:
    """Return the problems, the worst first, with one for each field."""
    problems: dict[tuple[str, str], Problem] = {}
    for problem in (
        *_of_failures(facts), *_of_kind(facts), *_of_reasoning(facts), *_of_context(facts), *_of_ends(facts),
        *_of_abilities(facts), *_of_prices(facts),
    ):  # fmt: skip
        problems.setdefault((problem.field, problem.sentence), problem)
    return list(problems.values())


def _of_failures(facts: Facts) -> Iterator[Problem]:
    if facts.needs_key and not facts.has_key:
        yield Problem("provider.key", str(_BY_FAILURE[FailureCode.NO_KEY][1]))
    for code in sorted(facts.failures - _NO_PROBLEM):
        field, sentence = _BY_FAILURE.get(code, ("test", None))
        if sentence is None:
            words = gettext("Its last calls failed (%(code)s): test it and read the provider's own words.")
            yield Problem(field, words % {"code": code})
        elif field == "provider.base_url" and _has_no_path(facts) and code != FailureCode.UNREACHABLE:
            yield Problem(field, gettext("Its address has no path: most servers need “/v1” at its end."))
        else:
            yield Problem(field, str(sentence))


def _has_no_path(facts: Facts) -> bool:
    return not urlsplit(facts.base_url).path.strip("/")


def _of_kind(facts: Facts) -> Iterator[Problem]:
    usual = guess_kind(facts.base_url)
    if facts.chosen_kind and usual is not ProviderKind.OTHER and usual != facts.chosen_kind:
        yield Problem(
            "provider.kind", gettext("Its address is that of %(kind)s: choose this kind.") % {"kind": usual.label}
        )
    for repair in facts.repairs:
        if problem := _of_repair(repair, facts.kind):
            yield problem


def _of_repair(repair: str, kind: ProviderKind) -> Problem | None:
    name = parameter_of(repair)
    if name == "stream_options":
        sentence = gettext(
            "It refuses “stream_options”, by which it would report tokens: update it, or keep the repair as a setting."
        )
        return Problem("repair", sentence)
    if name:
        sentence = gettext("It refuses “%(name)s”: remove it from the parameters, or choose its kind.")
        return Problem("model.parameters", sentence % {"name": name})
    if "≤" in repair:
        name, bound = repair.split(" ≤ ")
        sentence = gettext("It refuses so many tokens: lower “%(name)s” to %(bound)s.")
        return Problem("model.parameters", sentence % {"name": name, "bound": bound})
    refused, arrow, wanted = repair.partition(" → ")
    if not arrow or not wanted.startswith("max_"):
        return None  # another form of the messages: the repair is all that is needed
    if DIALECTS[kind].cap == refused:
        sentence = gettext("It refuses “%(name)s”: choose a kind that is sent “%(wanted)s”, such as %(kind)s.")
        by_cap = {"max_completion_tokens": ProviderKind.OPENAI, "max_tokens": ProviderKind.VLLM}
        values = {"name": refused, "wanted": wanted, "kind": by_cap[wanted].label}
        return Problem("provider.kind", sentence % values)
    sentence = gettext("It refuses “%(name)s”: write “%(wanted)s” in the parameters instead.")
    return Problem("model.parameters", sentence % {"name": refused, "wanted": wanted})


def _of_reasoning(facts: Facts) -> Iterator[Problem]:
    if facts.oddities & REASONING_IN_TEXT:
        yield Problem(
            "model.parameters",
            gettext(
                "Its reasoning stands in its answers: start it with a reasoning parser, or switch reasoning off in the "
                "parameters, mostly by {\"chat_template_kwargs\": {\"enable_thinking\": false}}."
            ),
        )  # fmt: skip


def _of_context(facts: Facts) -> Iterator[Problem]:
    listed, context, refused = facts.listed_context, facts.context, facts.refused_tokens
    if listed and (context is None or context > listed):
        sentence = gettext("Its provider's list names %(n)d tokens of context: enter this number.")
        yield Problem("model.context_length", sentence % {"n": listed})
    elif refused is not None and context is None:
        sentence = gettext("It refused a prompt of about %(n)d tokens as too long: enter its context length.")
        yield Problem("model.context_length", sentence % {"n": refused})
    elif refused is not None and context is not None and refused < context:
        sentence = gettext(
            "It refused a prompt of about %(n)d tokens as too long, though %(context)d are entered: enter the context "
            "with which the server was started."
        )
        yield Problem("model.context_length", sentence % {"n": refused, "context": context})


def _of_ends(facts: Facts) -> Iterator[Problem]:
    if Oddity.NO_EVENT_STREAM in facts.oddities:
        yield Problem(
            "provider.base_url",
            gettext(
                "It sends whole answers or no event stream, so texts appear late: turn streaming on in its server or "
                "proxy, or enter the address of the server behind the proxy."
            ),
        )
    if Oddity.NO_FINISH in facts.oddities and facts.needs_finish:
        sentence = gettext(
            "It never says why answers end, so they count as cut: allow answers without a finish reason."
        )
        yield Problem("provider.finish_reason_required", sentence)
    if facts.ends_by_length:
        sentence = gettext("Every answer ends at the limit of tokens: raise “max_tokens” in the parameters.")
        yield Problem("model.parameters", sentence)


def _of_abilities(facts: Facts) -> Iterator[Problem]:
    if Oddity.IMAGES_REFUSED in facts.oddities and "images" in facts.abilities:
        yield Problem("model.abilities", gettext("It refuses pictures: remove “sees images”."))
    if Oddity.TOOLS_REFUSED in facts.oddities and "tools" in facts.abilities:
        sentence = gettext("It refuses tools: start it with a parser for tool calls, or remove “calls tools”.")
        yield Problem("model.abilities", sentence)


def _of_prices(facts: Facts) -> Iterator[Problem]:
    if facts.needs_key and not facts.has_price:
        sentence = gettext("No price is known, so its calls cost nothing here and no budget holds: enter its price.")
        yield Problem("model.prices", sentence)
    if Oddity.NO_USAGE in facts.oddities and facts.has_price:
        sentence = gettext(
            "It reports no tokens, so costs are estimated: choose its kind, or turn usage on in its server."
        )
        yield Problem("provider.kind", sentence)
    if facts.oddities & {Oddity.USAGE_TOO_LOW, Oddity.USAGE_TOO_HIGH} and facts.has_price:
        sentence = gettext(
            "It reports numbers of tokens that do not fit its answers: compare its bill with the costs here, and set a "
            "daily budget."
        )
        yield Problem("provider.daily_budget", sentence)
