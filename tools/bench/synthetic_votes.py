"""Synthetic votes, copied into PostgreSQL: `python -m tools.bench.synthetic_votes --votes 1000`.

Runs add votes after existing ones. Style has a small effect; votes per voter, categories and languages are about as
uneven as in real arenas.
"""

import argparse
import itertools
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from secrets import token_hex, token_urlsafe

import django
import numpy as np

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from battles.models import Vote, VoteCounter  # noqa: E402
from battles.text.classifier import VERSION  # noqa: E402
from leaderboard.counting.live_elo import replay_elo  # noqa: E402
from models_registry.models import LanguageModel  # noqa: E402
from tests import make  # noqa: E402

CATEGORIES = {
    "coding": 0.3, "maths": 0.12, "creative-writing": 0.15, "instruction-following": 0.35, "multi-turn": 0.2,
    "long-prompt": 0.1, "hard-prompt": 0.25, "images": 0.03,
}  # fmt: skip
LANGUAGES = {"en": 0.55, "fr": 0.15, "de": 0.08, "es": 0.08, "zh": 0.06, "ru": 0.04, "und": 0.04}
HEADINGS_EFFECT = 0.25
TIE_SHARE = 0.25
VOTES_PER_SESSION = 20
BATCH_ROWS = 20_000


def fill(
    *, votes: int, days_ago: tuple[float, float] = (0, 0), models: int = 300, voters: int = 150_000, seed: int = 1
) -> None:
    """Add `votes` pending votes among the first `models` models, which are created where missing.

    days_ago: of the first and of the last vote; the others are spaced evenly between them.
    """
    with transaction.atomic():
        contestants = _contestants(models)
        first = VoteCounter.objects.filter(pk=1).values_list("last_order", flat=True).first() or 0
        sessions = _sessions(votes // VOTES_PER_SESSION + 1)
        now = datetime.now(UTC)
        times = [now - timedelta(days=days) for days in np.linspace(*days_ago, votes).tolist()]
        battles = list(zip(_battles(sessions, times), times, strict=True))
        rng, votes_of_day = np.random.default_rng([seed, first]), _votes_by_voter_and_day(times[0])
        rows = _votes(rng, contestants, voters, battles, first + 1, votes_of_day)
        _copy("battles_vote", _VOTE_COLUMNS, rows)
        VoteCounter.objects.update_or_create(pk=1, defaults={"last_order": first + votes})
        replay_elo()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE battles_vote, battles_battle, battles_session")


_VOTE_COLUMNS = (
    "battle_id", "choice", "model_left_id", "model_right_id", '"order"', "turn_count", "style", "voter", "categories",
    "language", "labelled_by", "prompt_digest", "excluded_reason", "tags", "comment", "created_at",
)  # fmt: skip


def _contestants(number: int) -> list[int]:
    existing = LanguageModel.objects.filter(slug__startswith="synthetic-").count()
    for index in range(existing, number):
        make.model(
            slug=f"synthetic-{index:03d}", name=f"Synthetic {index:03d}", organization=f"Organization {index % 25}",
            license="MIT" if index % 3 else "proprietary", has_votes=True,
        )  # fmt: skip
    return list(
        LanguageModel.objects.filter(slug__startswith="synthetic-")
        .order_by("slug")
        .values_list("pk", flat=True)[:number]
    )


def _sessions(number: int) -> list[int]:
    rows = ((token_urlsafe(16), "synthetic", False) for _ in range(number))
    return _copy("battles_session", ("public_id", "title", "archived"), rows)


def _battles(sessions: list[int], times: list[datetime]) -> list[int]:
    rows = (
        (token_urlsafe(16), session, "blind", "{}", 1e-5, time)
        for session, time in zip(itertools.cycle(sessions), times, strict=False)
    )
    return _copy("battles_battle", ("public_id", "session_id", "mode", "categories", "propensity", "created_at"), rows)


def _votes(
    rng: np.random.Generator,
    models: list[int],
    voters: int,
    battles: list[tuple[int, datetime]],
    first_order: int,
    votes_of_day: Counter[tuple[str, date]],
) -> Iterator[tuple[object, ...]]:
    truth = np.random.default_rng(0)  # a fixed seed: every run adds votes on the same models and voters
    strength = truth.normal(0, 0.8, len(models))
    words, formatting = truth.lognormal(5.5, 0.5, len(models)), truth.gamma(2, 1.5, len(models))
    popularity = truth.dirichlet(np.full(len(models), 4.0))
    voter_rates = 1 / np.arange(1, voters + 1) ** 0.8
    voter_rates /= voter_rates.sum()
    language_shares = np.array(list(LANGUAGES.values()))
    for start in range(0, len(battles), BATCH_ROWS):
        number = min(BATCH_ROWS, len(battles) - start)
        left = rng.choice(len(models), number, p=popularity)
        right = (left + rng.integers(1, len(models), number)) % len(models)
        styles = [_style(rng, words[side], formatting[side]) for side in (left, right)]
        headings = [style[:, 1].astype(float) for style in styles]
        contrast = (headings[0] - headings[1]) / np.maximum(headings[0] + headings[1], 1)
        p = 1 / (1 + np.exp(strength[right] - strength[left] - HEADINGS_EFFECT * contrast))
        outcome = np.where(rng.random(number) < p, "left", "right")
        outcome = np.where(
            rng.random(number) < TIE_SHARE, rng.choice(["tie", "both_bad"], number, p=[0.7, 0.3]), outcome
        )
        voter = rng.choice(voters, number, p=voter_rates)
        language = rng.choice(list(LANGUAGES), number, p=language_shares)
        has_category = rng.random((number, len(CATEGORIES))) < np.array(list(CATEGORIES.values()))
        leaked = rng.random(number) < 0.01
        circumstances = (rng.random((number, 3)) < (0.1, 0.2, 0.2)).tolist()
        waits = rng.lognormal(6.2, 0.7, (number, 2)).astype(int).tolist()
        for i in range(number):
            categories = ",".join(
                name for name, is_in in zip(sorted(CATEGORIES), has_category[i], strict=True) if is_in
            )
            style = {
                side: dict(zip(("tokens", "headings", "bold", "lists"), counts[i].tolist(), strict=True))
                for side, counts in zip(("left", "right"), styles, strict=True)
            }
            has_files, *met = circumstances[i]
            sides = [
                {"met": known, "reasoning": False, "first_token_ms": wait}
                for known, wait in zip(met, waits[i], strict=True)
            ]
            facts = style | {"context": {"files": int(has_files), "left": sides[0], "right": sides[1]}}
            battle, time = battles[start + i]
            day = (f"visitor:{voter[i]}", time.date())
            votes_of_day[day] += 1
            reason = Vote.ExcludedReason.IDENTITY_LEAK if leaked[i] else ""
            if votes_of_day[day] > (settings.ARENA_DAILY_VOTES["person"] or len(battles)):
                reason = Vote.ExcludedReason.OVER_DAILY_CAP
            yield (
                battle, outcome[i], models[left[i]], models[right[i]], first_order + start + i, 1,
                json.dumps(facts), day[0], f"{{{categories}}}", language[i], VERSION, token_hex(16),
                reason, "{}", "", time,
            )  # fmt: skip


def _votes_by_voter_and_day(since: datetime) -> Counter[tuple[str, date]]:
    cast = Vote.objects.filter(created_at__date__gte=since.date()).values_list("voter", "created_at__date")
    return Counter(cast.iterator())


def _style(rng: np.random.Generator, words: np.ndarray, formatting: np.ndarray) -> np.ndarray:
    """Return tokens, headings, bold runs and list items, shape (votes, 4)."""
    return np.stack(
        [rng.poisson(words), rng.poisson(formatting), rng.poisson(2 * formatting), rng.poisson(1.5 * formatting)],
        axis=1,
    )


def _copy(table: str, columns: Iterable[str], rows: Iterable[tuple[object, ...]]) -> list[int]:
    """Write the rows and return their ids, which are consecutive."""
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
            written = sum(copy.write_row(row) is None for row in rows)
        cursor.execute(f"SELECT max(id) FROM {table}")
        [last] = cursor.fetchone()
    return list(range(last - written + 1, last + 1))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--votes", type=int, required=True)
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--days-ago", type=float, nargs=2, default=(0, 0), metavar=("FIRST", "LAST"))
    args = parser.parse_args()
    fill(votes=args.votes, days_ago=tuple(args.days_ago), models=args.models)


if __name__ == "__main__":
    main()
