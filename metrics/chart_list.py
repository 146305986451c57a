"""Pages and their charts, of the arena for operators and of a team for its owners."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy


@dataclass(frozen=True)
class Chart:
    """Figures drawn in one picture, `metrics` of one unit. by: draw a line for each of its keys instead.

    has_budget: whether the present budget is a line across it.
    """

    title: Promise
    metrics: tuple[str, ...]
    by: str = ""
    has_budget: bool = False

    @property
    def id(self) -> str:
        return "-".join(filter(None, (self.metrics[0].replace("_", "-"), self.by)))


@dataclass(frozen=True)
class Page:
    slug: str
    title: Promise
    charts: tuple[Chart, ...]
    for_operators: bool = False


def _chart(title: Promise, *metrics: str, by: str = "") -> Chart:
    return Chart(title, metrics, by)


PAGES = (
    Page(
        "use", gettext_lazy("Use"),
        (
            _chart(gettext_lazy("Battles"), "battles", by="mode"),
            _chart(gettext_lazy("Active people"), "active_people"),
            _chart(gettext_lazy("Active people, 7 and 28 days"), "active_people_7d", "active_people_28d"),
            _chart(gettext_lazy("Stickiness"), "stickiness"),
            _chart(
                gettext_lazy("Battles per person"),
                "battles_per_person", "battles_per_person_p50", "battles_per_person_p90",
            ),
            _chart(gettext_lazy("Votes per battle"), "votes_per_battle"),
            _chart(gettext_lazy("Counted votes"), "counted_share"),
            _chart(gettext_lazy("Votes not counted, by reason"), "excluded_votes", by="reason"),
        ),
    ),
    Page(
        "funnel", gettext_lazy("Funnel and return"),
        (
            _chart(
                gettext_lazy("From the prompt to the next battle"),
                "funnel_whole", "funnel_voted", "funnel_feedback", "funnel_again", "funnel_back",
            ),
            _chart(gettext_lazy("Battles without a vote"), "funnel_void", "funnel_stopped", "funnel_open"),
            _chart(gettext_lazy("Time to vote"), "time_to_vote_p50", "time_to_vote_p90"),
            _chart(gettext_lazy("Return by weeks since the first battle"), "retention", by="week"),
        ),
    ),
    Page(
        "models", gettext_lazy("Models"),
        (
            _chart(gettext_lazy("Win rate"), "win_rate", by="model"),
            _chart(gettext_lazy("Score"), "score", by="model"),
            _chart(gettext_lazy("Elo"), "elo", by="model"),
            _chart(gettext_lazy("First token, median"), "first_token_p50", by="model"),
            _chart(gettext_lazy("Failed calls"), "failed_share", by="model"),
            _chart(gettext_lazy("Cost of answers"), "cost", by="model"),
        ),
        for_operators=True,
    ),
    Page(
        "speed", gettext_lazy("Speed and failures"),
        (
            _chart(gettext_lazy("First token"), "first_token_p50", "first_token_p95"),
            _chart(gettext_lazy("Whole answer"), "answer_time_p50", "answer_time_p95"),
            _chart(gettext_lazy("Tokens a second"), "tokens_per_second_p50", "tokens_per_second_p05"),
            _chart(
                gettext_lazy("Failed, empty, cut off, refused"),
                "failed_share", "empty_share", "cut_off_share", "refused_share",
            ),
            _chart(gettext_lazy("Failures by code"), "failures", by="code"),
        ),
    ),
    Page(
        "money", gettext_lazy("Money"),
        (
            Chart(gettext_lazy("Spent of the budget"), ("spent", "unsettled"), has_budget=True),
            _chart(gettext_lazy("Cost of answers"), "cost"),
            _chart(gettext_lazy("Cost of a battle and of a counted vote"), "cost_per_battle", "cost_per_vote"),
            _chart(gettext_lazy("Cost of 1,000 tokens"), "cost_per_1000_tokens"),
        ),
    ),
    Page(
        "router", gettext_lazy("Auto mode"),
        (
            _chart(gettext_lazy("Decisions by target"), "decisions", by="target"),
            _chart(gettext_lazy("Decisions by type of question"), "decisions", by="type"),
            _chart(gettext_lazy("Battles to learn from, and other models after failures"),
                "explored_share", "fallback_share"),
            _chart(gettext_lazy("Saved against always asking the best"), "saved", "best_cost"),
        ),
    ),
)  # fmt: skip


# Its address has no name of its own.
FIRST = PAGES[0]
OF_TEAMS = tuple(page for page in PAGES if not page.for_operators)
