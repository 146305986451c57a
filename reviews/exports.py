"""Opinions of people and of judges on the pairs of a review, as a file."""

from collections.abc import Iterator, Mapping

from django.http import StreamingHttpResponse
from django.utils.crypto import salted_hmac

from accounts.actor import Actor
from battles.models import Vote
from benchmarks.access import read_answers
from benchmarks.exports.responses import file_response
from benchmarks.judges.listing import JudgementRow, iter_rows, judgements_of
from benchmarks.models import Entrant, Run
from benchmarks.reports.item_rows import entrant_key
from common.payload_types import JsonObject
from common.tables.table import Kind, Table
from common.tables.writers import CONTENT_TYPES, WRITERS
from models_registry.models import LanguageModel
from reviews import access
from reviews.models import Review, ReviewBattle

BATCH = 1_000
# A tie and two bad answers are different answers, and count the same on boards.
_VALUES = {"first": 1.0, "second": 0.0, "tie": 0.5, "both_bad": 0.5}
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("rater_number", "repeat"), "int64"),
    **dict.fromkeys(("value", "chance", "pair_chance"), "float64"),
    **dict.fromkeys(("is_swapped", "counts", "knew_answers", "repeats_earlier"), "bool"),
    "created_at": "time",
}
_COLUMNS = (
    "review", "source", "rater", "rater_name", "rater_number", "case_key", "repeat", "first", "second", "first_name",
    "second_name", "is_swapped", "answer", "value", "counts", "excluded_reason", "knew_answers", "repeats_earlier",
    "created_at", "chance", "pair_chance", "label", "reason",
)  # fmt: skip
TABLE = Table(_COLUMNS, _KINDS, lambda row: tuple(row.values()))
_VOTE = (
    "pk", "person", "knew_answers", "repeats", "propensity", "pair_propensity", "review_item__case__key",
    "review_item__repeat", "review_item__first_item__entrant", "review_item__second_item__entrant",
    "review_item__first_model", "review_item__second_model", "battle__vote__choice", "battle__vote__model_left",
    "battle__vote__excluded_reason", "battle__vote__created_at",
)  # fmt: skip


def opinions_response(review: Review, ending: str, *, actor: Actor) -> StreamingHttpResponse:
    """Stream opinions, counted as an export. Raises ResultsHidden, AnswersHidden and LimitReached.

    review: one that access.reads_opinions lets the actor read. ending: a key of WRITERS.
    """
    access.require_results(actor, review)
    if review.run is not None:
        read_answers(actor, review.run)
    actor.count("export", fail_open=True)
    chunks = WRITERS[ending](batches(review), TABLE)
    return file_response(chunks, CONTENT_TYPES[ending], f"review-{review.public_id}.{ending}")


def batches(review: Review) -> Iterator[list[JsonObject]]:
    """Yield people's opinions, then those of judges on the same pairs; no query is open between batches."""
    yield from _votes(review)
    if review.run is not None:
        yield from _judgements(review, review.run)


def _votes(review: Review) -> Iterator[list[JsonObject]]:
    entrants = _entrants(review.run)
    pairs = review.items.values_list("first_model", "second_model").order_by().distinct()
    models = LanguageModel.of_every_owner.select_related("team").in_bulk({pk for pair in pairs for pk in pair})
    votes = ReviewBattle.objects.filter(review=review, battle__vote__isnull=False).order_by("pk")
    last = 0
    while rows := list(votes.filter(pk__gt=last).values_list(*_VOTE)[:BATCH]):
        yield [_of_person(review, dict(zip(_VOTE, row, strict=True)), entrants, models) for row in rows]
        last = rows[-1][0]


def _entrants(run: Run | None) -> dict[int, Entrant]:
    if run is None:
        return {}
    return {entrant.pk: entrant for entrant in run.entrants.select_related("model__team", "prompt")}


def _of_person(
    review: Review, row: JsonObject, entrants: Mapping[int, Entrant], models: Mapping[int, LanguageModel]
) -> JsonObject:
    sides = [
        (row[f"review_item__{name}_model"], entrants.get(row[f"review_item__{name}_item__entrant"]))
        for name in ("first", "second")
    ]
    sides.sort(key=lambda side: 0 if side[1] is None else side[1].position)
    (first_model, first), (second_model, second) = sides
    is_swapped = row["battle__vote__model_left"] == second_model
    answer = row["battle__vote__choice"]
    if answer in (Vote.Choice.LEFT, Vote.Choice.RIGHT):
        answer = "second" if (answer == Vote.Choice.LEFT) == is_swapped else "first"
    return {
        "review": review.public_id,
        "source": "person",
        "rater": pseudonym(review, row["person"]),
        "rater_name": None,
        "rater_number": None,
        "case_key": row["review_item__case__key"],
        "repeat": row["review_item__repeat"],
        "first": None if first is None else entrant_key(first),
        "second": None if second is None else entrant_key(second),
        "first_name": str(first or models[first_model]),
        "second_name": str(second or models[second_model]),
        "is_swapped": is_swapped,
        "answer": str(answer),
        "value": _VALUES[answer],
        "counts": not row["battle__vote__excluded_reason"],
        "excluded_reason": row["battle__vote__excluded_reason"] or None,
        "knew_answers": row["knew_answers"],
        "repeats_earlier": row["repeats"] is not None,
        "created_at": row["battle__vote__created_at"],
        "chance": row["propensity"],
        "pair_chance": row["pair_propensity"],
        "label": None,
        "reason": None,
    }


def pseudonym(review: Review, person: str) -> str:
    """Return the same text for all opinions of a person in a review, another one in each review."""
    return salted_hmac("reviews.exports", f"{review.public_id}:{person}", algorithm="sha256").hexdigest()[:24]


def _judgements(review: Review, run: Run) -> Iterator[list[JsonObject]]:
    items = review.items.values_list(
        "case__key", "repeat", "first_item__entrant__position", "second_item__entrant__position"
    )
    pairs = {(case, repeat, frozenset(sides)) for case, repeat, *sides in items}
    answers = {(case, repeat, side) for case, repeat, sides in pairs for side in sides}
    for rows in iter_rows(run, judgements_of(run)):
        shown = [
            _of_judge(review, row)
            for row in rows
            if (
                (row.case_key, row.repeat, row.first.position) in answers
                if row.second is None
                else (row.case_key, row.repeat, frozenset((row.first.position, row.second.position))) in pairs
            )
        ]
        if shown:
            yield shown


def _of_judge(review: Review, row: JudgementRow) -> JsonObject:
    """Return a verdict seen from the entrant that comes first in the run; of a judge that grades, its grade."""
    judge, first, second, value = row.judgement.judge, row.first, row.second, row.outcome
    if second is not None and second.position < first.position:
        first, second, value = second, first, None if value is None else 1 - value
    return {
        "review": review.public_id,
        "source": "judge",
        "rater": judge.public_id,
        "rater_name": judge.name,
        "rater_number": judge.number,
        "case_key": row.case_key,
        "repeat": row.repeat,
        "first": entrant_key(first),
        "second": None if second is None else entrant_key(second),
        "first_name": str(first),
        "second_name": None if second is None else str(second),
        "is_swapped": row.is_swapped,
        "answer": None if second is None or value is None else _answer_of(value),
        "value": value,
        "counts": value is not None,
        "excluded_reason": row.error or None,
        "knew_answers": None,
        "repeats_earlier": None,
        "created_at": None,
        "chance": None,
        "pair_chance": None,
        "label": row.label or None,
        "reason": row.reason or None,
    }


def _answer_of(value: float) -> str:
    return "first" if value > 0.5 else "second" if value < 0.5 else "tie"
