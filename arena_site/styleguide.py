"""`/styleguide/`, for staff: every component in every state, from the pages' templates."""

from decimal import Decimal

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from battles.forms import StartForm
from common.errors import TooManyRequests
from common.payload_types import JsonObject
from common.text.markdown import render as markdown
from leaderboard.boards.reveal import UNKNOWN_PLACE
from models_registry.models import LanguageModel, Price
from models_registry.picking import GAPS, Picker, Row

ICONS = (
    "menu", "brand", "file", "attach", "copy", "plus", "close", "send", "stop", "again", "check", "light", "dark",
    "system",
)  # fmt: skip
COLOURS = ("room", "page", "tint", "line", "edge", "ink", "soft", "accent", "accent-strong", "accent-tint", "bad")
SAMPLE_ANSWER = """A paragraph with **weight**, `code` and [a link](https://example.org).

| Model | Votes |
|---|--:|
| One | 12 |

```python
print("highlighted")
```

$$\\frac{n(n+1)}{2}$$

هذه فقرة تُقرأ من اليمين."""
NUMBERS: JsonObject = {
    "completion_tokens": 121,
    "first_token_ms": 640,
    "total_ms": 6301,
    "cost": "0.00031",
    "reasoning_tokens": 48,
    "energy": {"wh_low": 0.0412, "wh_high": 0.1049, "co2e_g_low": 0.021, "co2e_g_high": 0.053},
}
NO_NUMBERS: JsonObject = dict.fromkeys(NUMBERS)


@require_safe
def styleguide(request: HttpRequest) -> HttpResponse:
    if not getattr(request.user, "has_staff_rights", False):
        raise Http404
    wrong = StartForm({"prompt": ""})
    wrong.is_valid()
    context = {
        "icons": ICONS,
        "colours": COLOURS,
        "empty_form": StartForm(),
        "wrong_form": wrong,
        "too_many": TooManyRequests(retry_after=150),
        "pickers": [_picker("left"), _picker("several")],
        "page_obj": Paginator(range(60), 20).get_page(2),
        "turns": _turns(),
        "voting": _battle("voting"),
        "voted": _battle("voted", vote=_vote("left")),
        "uncounted": _battle("uncounted", vote=_vote("tie", excluded_reason="identity_leak")),
        "places": {
            (name, side): {**UNKNOWN_PLACE, "score": 1012.0, "rank": "2–4", "elo": 1516.0, "elo_change": change}
            for name in ("voted", "uncounted")
            for side, change in (("left", 16.0), ("right", -16.0))
        },
        "stars": [
            {"id": f"stars-{side}", "side": side, "stars": given} for side, given in (("1", None), ("2", 3), ("3", 5))
        ],
    }
    return render(request, "styleguide/styleguide.html", context)


def _picker(key: str) -> Picker:
    models = [_priced_model(number) for number in range(1, 4)]
    rows = [Row(models[0], is_chosen=True), Row(models[1]), Row(models[2], gap=str(GAPS["no_key"]))]
    return Picker(key, rows, found=3)


def _priced_model(number: int) -> LanguageModel:
    name = _("Model %(name)s") % {"name": number}
    model = LanguageModel(pk=-number, slug=f"model-{number}", name=name, organization="Example", abilities=["images"])
    prices = {"prices": [Price(input_per_million=Decimal(number), output_per_million=Decimal(2 * number))]}
    model._prefetched_objects_cache = prices  # type: ignore[attr-defined]
    return model


def _turns() -> list[JsonObject]:
    """Return titled battles of one turn each."""
    answer_html = markdown(SAMPLE_ANSWER)
    waiting, writing = _answer("left", state="queued"), _answer("right", state="streaming")
    stopped, failed = _answer("left", state="stopped"), _answer("right", state="failed", error=True)
    many = [_answer(str(number), html=answer_html, stars=number, **NUMBERS) for number in range(1, 7)]
    pair = [_answer(side, html=answer_html) for side in ("left", "right")]
    thinking = [_answer("left", html=answer_html, reasoning=_("First the one, then the other."), **NUMBERS)]
    return [
        {"title": _("Answering"), "battle": _battle("answering", waiting, writing)},
        {"title": _("Both answered"), "battle": _battle("answered", *pair)},
        {"title": _("One was stopped, one failed"), "battle": _battle("failed", stopped, failed)},
        {"title": _("One model, with its reasoning"), "battle": _battle("direct", *thinking, mode="direct")},
        {"title": _("Compare"), "battle": _battle("compare", *many, mode="compare")},
    ]


def _battle(name: str, *answers: JsonObject, mode: str = "blind", vote: JsonObject | None = None) -> JsonObject:
    """Return a battle in the shape of `battles.payloads.battle_payload`."""
    shown = list(answers) or [_answer(side, **NUMBERS) for side in ("left", "right")]
    is_open = mode != "blind" or vote is not None
    turn = {
        "index": 0,
        "after_vote": False,
        "prompt": _("Explain why the sky is blue to a curious ten-year-old."),
        "attachments": [],
        "answers": shown,
    }
    sides = [{"side": answer["side"], "model": _model(answer["side"])} for answer in shown]
    return {
        "id": name,
        "mode": mode,
        "turns": [turn],
        "turn": turn,
        "vote": vote,
        "sides": sides if is_open else None,
    }


def _answer(side: str, *, state: str = "done", html: str = "", error: bool = False, **more: object) -> JsonObject:
    return {
        **NO_NUMBERS,
        "id": f"{side}-{state}",
        "side": side,
        "state": state,
        "text": html,
        "html": html,
        "error_message": _("This model could not answer.") if error else "",
        **more,
    }


def _vote(choice: str, *, excluded_reason: str = "") -> JsonObject:
    return {
        "choice": choice,
        "tags": {"left": ["clear"], "right": ["shallow"]},
        "comment": _("Shorter, and right."),
        "counted": not excluded_reason,
        "excluded_reason": excluded_reason,
    }


def _model(side: str) -> JsonObject:
    return {
        "id": f"model-{side}",
        "name": _("Model %(name)s") % {"name": {"left": "A", "right": "B"}.get(side, side)},
        "organization": "Example",
        "license": "Apache-2.0",
        "license_kind": "open",
        "price_input": "0.10",
        "price_output": "0.50",
    }
