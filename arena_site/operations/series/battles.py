from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from arena_site.operations import facts
from arena_site.operations.activity import read_activity
from leaderboard.counting.new_votes import count_of_site
from reviews.second_opinions.queries import site_agreement


def battle_series() -> list[Metric]:
    battles = GaugeMetricFamily(
        "arena_battles_today", "Battles begun since midnight UTC, by mode and what became of them.",
        labels=["mode", "state"],
    )  # fmt: skip
    for mode in read_activity().battles_today():
        for state in ("open", "voted", "void"):
            battles.add_metric([mode.mode, state], getattr(mode, state))
    queue = facts.queue()
    turns = GaugeMetricFamily("arena_turns", "Turns that are not done.", labels=["state"])
    for state in ("waiting", "answering", "stuck"):
        turns.add_metric([state], getattr(queue, state))
    snapshots = facts.snapshots()
    published_at = snapshots.published_at
    return [
        battles,
        turns,
        GaugeMetricFamily("arena_queue_age_seconds", "How long the first waiting turn waits.", queue.age_s),
        GaugeMetricFamily("arena_votes_ever", "Votes ever cast, without those of teams alone.", count_of_site()),
        GaugeMetricFamily("arena_moderation_waiting", "Cases in the moderation queue.", facts.cases().waiting),
        GaugeMetricFamily(
            "arena_snapshot_timestamp_seconds", "When Overall was last published; 0 before.",
            published_at.timestamp() if published_at else 0,
        ),
        GaugeMetricFamily(
            "arena_snapshot_overdue", "Whether boards were not computed for three intervals.", snapshots.is_overdue
        ),
        GaugeMetricFamily(
            "arena_boards_failed", "Boards whose last computation failed.", len(snapshots.failed_boards)
        ),
    ]  # fmt: skip


def agreement_series() -> list[Metric]:
    site = site_agreement()
    shares = GaugeMetricFamily(
        "arena_people_agreement", "How often two people name the same winner in second opinions, with its interval.",
        labels=["bound"],
    )  # fmt: skip
    if site is not None:
        for bound, value in (("low", site.low), ("value", site.value), ("high", site.high)):
            shares.add_metric([bound], value)
    pairs = GaugeMetricFamily(
        "arena_people_agreement_pairs", "Pairs of people that it is from.", site.pairs if site else 0
    )
    return [shares, pairs]
