from django.db.models import Count

from battles.payload_types import VotedModelPayload
from models_registry.models import LanguageModel
from reviews.models import Review, ReviewBattle
from reviews.payload_types import ModelMeanPayload, PairAnswersPayload, QuestionResultPayload
from reviews.questions import QuestionResult, summarize

_Named = dict[int, VotedModelPayload]


def read_answers(review: Review) -> list[QuestionResultPayload]:
    """Return answers that came with counted votes. Call this only where the results are shown."""
    if not review.questions:
        return []
    counted = ReviewBattle.objects.filter(review=review, answers__isnull=False, battle__vote__excluded_reason="")
    rows = counted.order_by().values_list("answers", "battle__vote__model_left", "battle__vote__model_right")
    results = summarize(review.questions, rows.annotate(n=Count("pk")))
    ids = {row.model for result in results for row in result.models}
    models = LanguageModel.of_every_owner.in_bulk(ids)
    named: _Named = {pk: {"id": model.slug, "name": model.name} for pk, model in models.items()}
    return [_payload(result, named) for result in results]


def _payload(result: QuestionResult, named: _Named) -> QuestionResultPayload:
    pairs: list[PairAnswersPayload] = [
        {"first_model": named[pair.first], "second_model": named[pair.second], "counts": pair.counts}
        for pair in result.pairs
    ]
    models: list[ModelMeanPayload] = [
        {"model": named[row.model], "n": row.n, "mean": round(row.mean, 6)} for row in result.models
    ]
    return {**result.question, "n": result.n, "without": result.without, "pairs": pairs, "models": models}
