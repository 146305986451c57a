"""Cost and time of a run before its start, and cases too long for an entrant."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import ceil

from django.db.models import Avg, Count, IntegerField, Q, Sum, TextField
from django.db.models.functions import Cast, Coalesce, Length

from battles.calls import PlannedCall
from battles.models import Call
from battles.prompting.messages import CHARACTERS_PER_TOKEN, context_characters, with_system_prompt
from benchmarks.models import CaseFile, Prompt, RenderedPrompt, Run, TemplateVersion
from benchmarks.worker.pace import read_paces, room_at
from benchmarks.worker.reuse import answer_key, find_replies
from common.payload_types import JsonObject
from models_registry.models import LanguageModel
from models_registry.providers.base import MAX_TOKENS_PER_IMAGE
from models_registry.providers.kinds import CAPS
from models_registry.spending import MAX_TEMPLATE_TOKENS

# Length of an answer of a model without calls so far.
EXPECTED_TOKENS = 300
# UTF-8: an upper bound of the tokens of a character.
MAX_BYTES_PER_CHARACTER = 4
LISTED_CASES = 5


@dataclass(frozen=True)
class _Answer:
    """Means of a model's answers; seconds: None before the first."""

    tokens: float = EXPECTED_TOKENS
    seconds: float | None = None


@dataclass(frozen=True)
class EntrantEstimate:
    """Costs in US dollars. seconds: of an item, None before the first; too_long: the first keys."""

    model: LanguageModel
    prompt: Prompt
    items: int
    expected: Decimal
    maximum: Decimal
    tokens: int
    seconds: float | None = None
    too_long_count: int = 0
    too_long: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Estimate:
    """minutes: at the learned pace, if no other run is under way; None before a model's first answer."""

    entrants: list[EntrantEstimate]
    minutes: int | None = None

    @property
    def items(self) -> int:
        return sum(entrant.items for entrant in self.entrants)

    @property
    def tokens(self) -> int:
        return sum(entrant.tokens for entrant in self.entrants)

    @property
    def expected(self) -> Decimal:
        return sum((entrant.expected for entrant in self.entrants), Decimal(0))

    @property
    def maximum(self) -> Decimal:
        return sum((entrant.maximum for entrant in self.entrants), Decimal(0))


def estimate(
    version: TemplateVersion,
    entrants: Sequence[tuple[LanguageModel, Prompt]],
    *,
    repeats: int,
    parameters: JsonObject,
    concurrency: int = 16,
) -> Estimate:
    """Return cost and time without retries; `maximum`: each answer reaches its maximum length."""
    sizes = {prompt.pk: _case_sizes(version, prompt) for prompt in {prompt for _, prompt in entrants}}
    answers = _mean_answers([model for model, _ in entrants])
    estimates = [
        _of_entrant(model, prompt, sizes[prompt.pk], answers.get(model.pk, _Answer()), repeats, parameters)
        for model, prompt in entrants
    ]
    return Estimate(estimates, _minutes(estimates, concurrency))


def estimate_texts(
    model: LanguageModel, sizes: Mapping[str, int], parameters: JsonObject, *, turns: Sequence[str]
) -> EntrantEstimate:
    """Return the estimate of requests without a template. sizes: characters by any name; turns: follow-ups."""
    means = _mean_answers([model], Call.Purpose.JUDGE).get(model.pk, _Answer())
    return _of_entrant(model, Prompt(messages=[{}, {}], turns=list(turns)), sizes, means, 1, parameters)


def estimate_prompts(run: Run, models: Sequence[LanguageModel], prompts: Sequence[str]) -> tuple[Estimate, Estimate]:
    """Return what asking each model each prompt costs, and the part that answers of earlier equal calls save.

    run: not stored; its place and reuse_days count.
    """
    means = _mean_answers(models)
    made: list[EntrantEstimate] = []
    saved: list[EntrantEstimate] = []
    for model in models:
        keys = {
            answer_key(PlannedCall(model, with_system_prompt(model, [{"role": "user", "content": prompt}])), 0): prompt
            for prompt in prompts
        }
        known = {keys[key] for key in find_replies(run, keys)}
        for part, estimates in (([prompt for prompt in prompts if prompt not in known], made), (known, saved)):
            sizes = {prompt: len(prompt) for prompt in part}
            answer = means.get(model.pk, _Answer())
            estimates.append(_of_entrant(model, Prompt(messages=[{}]), sizes, answer, 1, {}))
    return Estimate(made, _minutes(made, run.concurrency)), Estimate(saved)


def _minutes(entrants: Sequence[EntrantEstimate], concurrency: int) -> int | None:
    """Return minutes until the last provider is done, each as fast as its room and pace allow."""
    providers = {entrant.model.provider_id: entrant.model.provider for entrant in entrants}
    paces = read_paces(providers)
    work = Counter[int]()
    for entrant in entrants:
        if entrant.seconds is None:
            return None
        work[entrant.model.provider_id] += ceil(entrant.items * entrant.seconds)
    rooms = {pk: max(1, min(paces[pk] or 1, room_at(provider))) for pk, provider in providers.items()}
    seconds = [work[pk] / min(rooms[pk], concurrency) for pk in work]
    return max(1, ceil(max([*seconds, work.total() / concurrency]) / 60)) if work else None


def _of_entrant(
    model: LanguageModel,
    prompt: Prompt,
    sizes: Mapping[str, int],
    means: _Answer,
    repeats: int,
    parameters: JsonObject,
) -> EntrantEstimate:
    system, calls = len(model.system_prompt), 1 + len(prompt.turns)
    fits = context_characters(model) - system
    too_long = [key for key, size in sizes.items() if size > fits]
    fitting = [size for size in sizes.values() if size <= fits]
    cap = answer_cap(model, parameters)
    characters = sum(fitting) * calls + system * calls * len(fitting)
    answer = min(means.tokens, cap)
    count = len(fitting) * calls
    # Later turns repeat the answers before.
    repeated = len(fitting) * calls * (calls - 1) // 2
    prompt_tokens = int(characters / CHARACTERS_PER_TOKEN + repeated * answer)
    completion_tokens = int(answer * count)
    expected = maximum = Decimal(0)
    if (price := model.price) is not None and price.is_above_zero:
        expected = price.cost_of(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
        templates = MAX_TEMPLATE_TOKENS * (len(prompt.messages) + 2 * calls) * count
        maximum = price.cost_of(
            prompt_tokens=characters * MAX_BYTES_PER_CHARACTER + templates + repeated * cap,
            completion_tokens=cap * count,
        )
    return EntrantEstimate(
        model, prompt, len(sizes) * repeats, expected * repeats, maximum * repeats,
        (prompt_tokens + completion_tokens) * repeats, None if means.seconds is None else means.seconds * calls,
        len(too_long), too_long[:LISTED_CASES],
    )  # fmt: skip


def answer_cap(model: LanguageModel, parameters: JsonObject) -> int:
    """Return the most tokens of an answer."""
    return max([int(parameters[name]) for name in CAPS & parameters.keys()], default=model.max_tokens)


def _case_sizes(version: TemplateVersion, prompt: Prompt) -> dict[str, int]:
    """Return a prompt's characters by case key, estimated unless rendered."""
    template = sum(len(message["template"]) for message in prompt.messages) + sum(map(len, prompt.turns))
    written = Length(Cast("variables", TextField())) + Coalesce(Length(Cast("messages", TextField())), 0)
    sizes = {
        key: template + characters
        for key, characters in version.cases.order_by("position").values_list(
            "key", Cast(written, IntegerField()), named=False
        )
    }
    for key, text, images in (
        CaseFile.objects.filter(case__version=version).order_by().values_list("case__key")
        .annotate(text=Coalesce(Sum("upload__characters"), 0), images=Count("pk", filter=Q(upload__kind="image")))
    ):  # fmt: skip
        sizes[key] += text + images * MAX_TOKENS_PER_IMAGE * CHARACTERS_PER_TOKEN
    if version.state == TemplateVersion.State.FROZEN:
        sizes |= dict(RenderedPrompt.objects.filter(prompt=prompt).values_list("case__key", "characters"))
    return sizes


def _mean_answers(models: Sequence[LanguageModel], purpose: Call.Purpose = Call.Purpose.ITEM) -> dict[int, _Answer]:
    """Return means of runs' answers by model id."""
    calls = Call.objects.filter(model__in={model.pk for model in models}, purpose=purpose, state=Call.State.DONE)
    means = calls.order_by().values_list("model").annotate(tokens=Avg("completion_tokens"), ms=Avg("total_ms"))
    return {
        model_id: _Answer(float(tokens or EXPECTED_TOKENS), None if ms is None else float(ms) / 1_000)
        for model_id, tokens, ms in means
    }
