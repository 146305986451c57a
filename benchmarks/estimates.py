"""Cost of a run before its start, and cases too long for an entrant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Avg, Count, IntegerField, Q, Sum, TextField
from django.db.models.functions import Cast, Coalesce, Length

from battles.models import Call
from battles.prompting.messages import CHARACTERS_PER_TOKEN, context_characters
from benchmarks.models import CaseFile, Prompt, RenderedPrompt, TemplateVersion
from common.payload_types import JsonObject
from models_registry.models import LanguageModel
from models_registry.providers.base import MAX_TOKENS_PER_IMAGE
from models_registry.providers.kinds import CAPS
from models_registry.spending import MAX_TEMPLATE_TOKENS

# Of an answer to a model without calls so far.
EXPECTED_TOKENS = 300
# UTF-8: an upper bound of the tokens of a character.
MAX_BYTES_PER_CHARACTER = 4
LISTED_CASES = 5


@dataclass(frozen=True)
class EntrantEstimate:
    """Costs in US dollars. too_long: the first keys."""

    model: LanguageModel
    prompt: Prompt
    items: int
    expected: Decimal
    most: Decimal
    tokens: int
    too_long_count: int = 0
    too_long: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Estimate:
    entrants: list[EntrantEstimate]

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
    def most(self) -> Decimal:
        return sum((entrant.most for entrant in self.entrants), Decimal(0))


def estimate(
    version: TemplateVersion,
    entrants: Sequence[tuple[LanguageModel, Prompt]],
    *,
    repeats: int,
    parameters: JsonObject,
) -> Estimate:
    """Return the estimate, each call counted once and at most with an answer up to its cap."""
    sizes = {prompt.pk: _case_sizes(version, prompt) for prompt in {prompt for _, prompt in entrants}}
    answers = _answer_tokens([model for model, _ in entrants])
    return Estimate(
        [_of_entrant(model, prompt, sizes[prompt.pk], answers, repeats, parameters) for model, prompt in entrants]
    )


def _of_entrant(
    model: LanguageModel,
    prompt: Prompt,
    sizes: Mapping[str, int],
    answers: Mapping[int, float],
    repeats: int,
    parameters: JsonObject,
) -> EntrantEstimate:
    system, calls = len(model.system_prompt), 1 + len(prompt.turns)
    fits = context_characters(model) - system
    too_long = [key for key, size in sizes.items() if size > fits]
    asked = [size for size in sizes.values() if size <= fits]
    cap = max([int(parameters[name]) for name in CAPS & parameters.keys()], default=model.max_tokens)
    characters = sum(asked) * calls + system * calls * len(asked)
    answer = min(answers.get(model.pk, EXPECTED_TOKENS), cap)
    count = len(asked) * calls
    # Later turns repeat the answers before.
    repeated = len(asked) * calls * (calls - 1) // 2
    prompt_tokens = int(characters / CHARACTERS_PER_TOKEN + repeated * answer)
    completion_tokens = int(answer * count)
    expected = most = Decimal(0)
    if (price := model.price) is not None and price.is_above_zero:
        expected = price.cost_of(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)
        templates = MAX_TEMPLATE_TOKENS * (len(prompt.messages) + 2 * calls) * count
        most = price.cost_of(
            prompt_tokens=characters * MAX_BYTES_PER_CHARACTER + templates + repeated * cap,
            completion_tokens=cap * count,
        )
    return EntrantEstimate(
        model, prompt, len(sizes) * repeats, expected * repeats, most * repeats,
        (prompt_tokens + completion_tokens) * repeats, len(too_long), too_long[:LISTED_CASES],
    )  # fmt: skip


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


def _answer_tokens(models: Sequence[LanguageModel]) -> dict[int, float]:
    """Return mean tokens of runs' answers by model id."""
    calls = Call.objects.filter(
        model__in={model.pk for model in models}, purpose=Call.Purpose.ITEM, state=Call.State.DONE
    )
    means = calls.order_by().values_list("model").annotate(mean=Avg("completion_tokens"))
    return {model_id: float(mean) for model_id, mean in means if mean}
