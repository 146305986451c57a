"""Benchmark runs in an arena of its own, and the promises that they keep."""

from typing import Any

from tests.fake_provider import FakeProvider
from tests.waiting import wait_for
from tests.worlds.arena import Arena

CREATE = """
from decimal import Decimal
from accounts.actor import Actor
from accounts.models import User
from benchmarks import actions
from benchmarks.actions.case_files import change_files
from benchmarks.models import Case, Check, Prompt, ProviderPace, Template, TemplateVersion
from models_registry.models import LanguageModel, Price
from uploads.actions import store_upload
owner, _ = User.objects.get_or_create(email="runs@example.org")
template = Template.objects.create(owner_user=owner, slug=f"words-{{Template.objects.count()}}", name="Words")
version = TemplateVersion.objects.create(template=template, parameters={{"max_tokens": 400}})
Prompt.objects.create(version=version, messages=[{{"role": "user", "template": "{{{{ words }}}}"}}])
Check.objects.create(version=version, key="word", scorer="contains")
Case.objects.bulk_create(
    Case(version=version, position=n, key=f"case {{n}}", expected=[f"last{{n}}"],
         variables={{"words": f"item{{n}} " + "more " * 60 + f"last{{n}}"}})
    for n in range({cases})
)
if {picture}:
    LanguageModel.objects.update(abilities=["images"])
    photo = store_upload(Actor(user=owner), {picture}, "photo.png")
    for case in version.cases.all():
        change_files(case, added=[photo])
models = list(LanguageModel.objects.filter(slug__in=["left-one", "right-one"]))
for model in models:
    Price.objects.create(model=model, input_per_million=0, output_per_million=1)
run = actions.create_run(
    owner=owner, version=version, entrants=[actions.EntrantRequest(model) for model in models], attempts=5,
    concurrency={concurrency}, budget=Decimal(10),
)
print(run.pk)
"""


def start_run(arena: Arena, cases: int, concurrency: int, picture: bytes = b"") -> int:
    return int(arena.shell(CREATE.format(cases=cases, concurrency=concurrency, picture=picture)))


def stored(arena: Arena, run: int) -> int:
    return arena.query(
        "SELECT count(*) FROM benchmarks_itemreply AS shown JOIN benchmarks_runitem AS item ON item.id = shown.item_id "
        "WHERE item.run_id = %s", run,
    )[0][0]  # fmt: skip


def _prompt(request: dict[str, Any]) -> str:
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


def check_books(arena: Arena, run: int, items: int, provider: FakeProvider) -> None:
    """Check the promises of exactly once: items, calls and money agree with what the provider saw."""
    wait_for(lambda: arena.query("SELECT state FROM benchmarks_run WHERE id = %s", run) == [("done",)], within=400)
    assert arena.query("SELECT state, count(*) FROM benchmarks_runitem WHERE run_id = %s GROUP BY state", run) == [
        ("scored", items)
    ]
    counts = "SELECT sum(n) FROM benchmarks_runcount AS c JOIN benchmarks_entrant AS e ON e.id = c.entrant_id"
    assert arena.query(f"{counts} WHERE e.run_id = %s", run) == [(items,)]
    calls = dict(
        arena.query(
            "SELECT call.state, count(*) FROM battles_call AS call JOIN benchmarks_itemcall AS made ON made.call_id = "
            "call.id JOIN benchmarks_runitem AS item ON item.id = made.item_id WHERE item.run_id = %s GROUP BY 1", run,
        )
    )  # fmt: skip
    assert calls.pop("done") == items == stored(arena, run)
    lost = calls.pop("lost", 0)
    assert not calls
    asked = [request for request in provider.requests if _prompt(request).startswith("item")]
    assert items <= len(asked) <= items + lost
    [(reserved, spent, cost)] = arena.query(
        "SELECT run.reserved, run.spent, sum(call.cost) FROM benchmarks_run AS run "
        "JOIN benchmarks_runitem AS item ON item.run_id = run.id JOIN benchmarks_itemcall AS made "
        "ON made.item_id = item.id JOIN battles_call AS call ON call.id = made.call_id "
        "WHERE run.id = %s GROUP BY run.id", run,
    )  # fmt: skip
    assert (reserved, spent) == (0, cost)
