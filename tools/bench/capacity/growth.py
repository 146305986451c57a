"""Arithmetic of docs/scaling.md: processes and machines for a rate of battles, from the measured costs of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

# A process that works more than this share of the time lets its next request wait noticeably.
BUSY = 0.6
CORES_OF_MACHINE = 8
TURNS_OF_WORKER = 400  # ARENA_ANSWER_CONCURRENCY, raised from its default
STREAMS_OF_PROCESS = 1_000  # ARENA_STREAMS, of a web process
RATES = (10, 100, 1_000, 10_000)


@dataclass(frozen=True)
class Costs:
    """CPU seconds of a battle and of a vote, by process.

    seconds: that a battle takes; votes: of a battle, on average; votes_at_commit: votes per second that the database
    can number.
    """

    web: float
    answers: float
    rendering: float
    postgres: float
    valkey: float
    vote_web: float
    vote_postgres: float
    seconds: float
    votes_at_commit: float
    votes: float = 0.5

    def web_of_battle(self) -> float:
        return self.web + self.votes * self.vote_web

    def postgres_of_battle(self) -> float:
        return self.postgres + self.votes * self.vote_postgres


@dataclass(frozen=True)
class Needs:
    """postgres, valkey: cores; numbering: share of the votes per second that can be numbered."""

    rate: float
    web: int
    answers: int
    postgres: float
    valkey: float
    numbering: float
    machines: int


def needs(costs: Costs, rate: float) -> Needs:
    """Return processes, cores and machines for `rate` battles per second. A process uses one core at most."""
    under_way = rate * costs.seconds
    web = max(ceil(rate * costs.web_of_battle() / BUSY), ceil(under_way / STREAMS_OF_PROCESS))
    answers = max(ceil(rate * costs.answers / BUSY), ceil(under_way / TURNS_OF_WORKER))
    postgres, valkey = rate * costs.postgres_of_battle() / BUSY, rate * costs.valkey / BUSY
    python = rate * (costs.web_of_battle() + costs.answers + costs.rendering) / BUSY
    return Needs(
        rate, web, answers, postgres, valkey, rate * costs.votes / costs.votes_at_commit,
        machines=ceil((python + postgres + valkey) / CORES_OF_MACHINE),
    )  # fmt: skip


def first_limits(costs: Costs) -> list[tuple[float, str]]:
    """Return (battles per second, what is full then), the lowest first: what more processes do not raise."""
    limits = {
        "one Valkey, which uses one core": BUSY / costs.valkey,
        "numbering of votes at COMMIT": BUSY * costs.votes_at_commit / costs.votes,
        "one PostgreSQL with 64 cores": BUSY * 64 / costs.postgres_of_battle(),
    }
    return sorted((rate, name) for name, rate in limits.items())


def table(costs: Costs, rates: Sequence[float] = RATES) -> str:
    """Return the table as Markdown."""
    lines = [
        "| battles/s | web processes | answer workers | PostgreSQL, cores | Valkey, cores "
        f"| numbering | machines of {CORES_OF_MACHINE} cores |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.rate:,.0f} | {row.web:,} | {row.answers:,} | {row.postgres:,.1f} | {row.valkey:,.2f} "
        f"| {row.numbering:.0%} | {row.machines:,} |"
        for row in (needs(costs, rate) for rate in rates)
    ]
    return "\n".join(lines)
