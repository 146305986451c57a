"""A campaign: 40 people join by one link and compare stored answers of real models; four are filmed."""

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

from playwright.sync_api import Page, expect

from tests.concurrency import race
from tests.site import Reader
from tools.films.scene import DESK, PHONE, Scene
from tools.screenshots.pictures import Who

PEOPLE, VOTES_OF_EACH = 40, 4
# Three people of the 40 are filmed.
OVER_HTTP = PEOPLE - 3
CONCURRENCY = 3
# A vote that comes sooner does not count.
READING_S = 2.2
DOUBTS = "control pairs"
SETTINGS = ("plain", "concise", "warm")
QUESTIONS = (
    "Why is the sky blue?", "What is a lens?", "Why does ice float?", "What makes a rainbow?", "What is an echo?",
    "What is a shadow?",
)  # fmt: skip
# A short run: the local model answers each question once in each of its three settings.
RUN = """
from accounts.models import User
from benchmarks import actions
from benchmarks.actions import EntrantRequest
from benchmarks.actions.drafts import DraftContent
from benchmarks.models import Prompt
from benchmarks.pasting import read_table
from models_registry.models import LanguageModel

owner = User.objects.get(email="mara@example.org")
template = actions.create_template(owner=owner, name="Questions of children", description="", team=None)
draft = template.versions.get()
prompt = Prompt(label="", messages=[{{"role": "user", "template": "{{{{ question }}}} Answer in one sentence."}}])
actions.save_draft(draft, DraftContent([prompt], [], {{"max_tokens": 300}}))
actions.add_cases(draft, read_table({table!r}))
models = LanguageModel.objects.filter(slug__startswith="smollm2-135m-").order_by("slug")
run = actions.create_run(
    owner=owner, version=draft, entrants=[EntrantRequest(model) for model in models], name="Three settings",
)
print(run.public_id)
"""
JUDGE = """
from benchmarks.judges.actions import JudgeContent, JudgingRequest, create_judge, start_judging
from benchmarks.judging.rubrics import Kind, Rubric
from benchmarks.models import Run
from models_registry.models import LanguageModel

run = Run.objects.get(public_id="{run}")
rubric = Rubric(kind=Kind.PAIRWISE, instructions="Prefer what a child of ten would understand.")
model = LanguageModel.objects.get(slug="smollm2-135m-{setting}")
content = JudgeContent("{setting}".capitalize(), model, rubric, {{"temperature": 0, "max_tokens": 60}}, "allow")
judge = create_judge(owner=run.owner, content=content)
request = JudgingRequest(judge, run, orders="random", with_card=True)
judging = start_judging(request, owner=run.owner, budget=None)
# The small model answers so many in time on a busy machine.
Run.objects.filter(pk=judging.run_id).update(concurrency=2)
"""
OF_EARLIER = "SELECT public_id FROM benchmarks_run WHERE name = 'Three settings'"
ASKED = "SELECT state FROM benchmarks_run WHERE public_id = %s"
JUDGED = """
SELECT run.state FROM benchmarks_judging AS judging JOIN benchmarks_run AS run ON run.id = judging.run_id
JOIN benchmarks_run AS subject ON subject.id = judging.subject_id WHERE subject.public_id = %s
"""
# The local model reads each judge's pairs and control pairs, at times on half a core.
PATIENCE_S = 1800
Choose = Callable[[int, dict[str, Any]], str]


@dataclass(frozen=True)
class Person:
    """choose: given the number of the vote and the battle. asleep: opens a battle and never votes."""

    number: int
    choose: Choose
    asleep: bool = False


def campaign(scene: Scene) -> None:
    owner = scene.page
    run = _ask_models(scene)
    link, review = _open_review(scene, run)
    code = link.partition("code=")[2]
    with ThreadPoolExecutor(1) as thread:
        people = [Person(number, _taste) for number in range(OVER_HTTP - 2)]
        people += [Person(OVER_HTTP - 2, lambda _number, _battle: "left"), Person(OVER_HTTP - 1, _taste, asleep=True)]
        others = thread.submit(_act, scene.studio.arena.url, code, people)
        _vote_on_a_phone(scene, link)
        _vote_in_french_by_keys(scene, code)
        _vote_at_a_desk(scene, link)
        _watch(scene, owner, others.done)
        others.result()
    _come_late(scene, link)
    _close(scene, owner, review)
    _read_judgements(scene, owner, run)


def _ask_models(scene: Scene) -> str:
    """Return the id of a run that the local model has answered; a kept arena has it already."""
    arena = scene.studio.arena
    if asked := arena.query(OF_EARLIER):
        return str(asked[0][0])
    table = "question\n" + "\n".join(QUESTIONS)
    run = arena.shell(RUN.format(table=table)).strip()
    _await_run(scene, ASKED, run)
    for setting in SETTINGS:  # one after the other: a member has few runs at once
        arena.shell(JUDGE.format(run=run, setting=setting))
        _await_run(scene, JUDGED, run)
    return run


def _await_run(scene: Scene, states: str, run: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while any(state not in ("done", "cancelled") for [state] in scene.studio.arena.query(states, run)):
        assert time.monotonic() < deadline, "the run does not end"
        time.sleep(1)


def _open_review(scene: Scene, run: str) -> tuple[str, str]:
    """Return the link for people, and the review's address."""
    page, film = scene.page, scene.film
    scene.sign_in(Who.MEMBER)
    page.goto(f"/benchmarks/r/{run}/")
    film.say("Three settings of one small model answered my questions. Which answers do people prefer?", 2)
    page.locator("#people").scroll_into_view_if_needed()
    film.look(2)
    scene.press("Ask people", role="link", seconds=2)
    page.get_by_label("Title", exact=True).fill("Questions of children")
    page.get_by_label("Instructions").fill("Prefer what a **child of ten** would understand.")
    page.get_by_label("people who have its link or its code").check()
    film.say("Everyone with a link, 40 at most. I look at what I can choose.", 2)
    page.get_by_label("Opinions on each pair").fill("12")
    page.get_by_label("At most from one person").fill(str(VOTES_OF_EACH))
    page.get_by_label("Expected people").fill(str(PEOPLE))
    page.get_by_label("Expected people").scroll_into_view_if_needed()
    film.look(2)
    scene.press("Make a draft", seconds=2)
    film.say("The draft. I open it.")
    scene.click(page.locator("main").get_by_role("button", name="Open", exact=True), 2)
    film.say("Here is the link, and its code for the blackboard.", 2)
    page.mouse.wheel(0, 500)
    film.look(2)
    link = page.locator("a[href*='/join/?code=']").get_attribute("href")
    assert link is not None
    return link.partition("//")[2].partition("/")[2], page.url.rpartition("/settings/")[0]


def _act(site: str, code: str, people: list[Person]) -> None:
    """Join at once, then vote a few at a time."""
    readers = race(lambda person: _join(site, code, f"P{person.number}"), people)
    with ThreadPoolExecutor(CONCURRENCY) as threads:
        list(threads.map(_vote, readers, people))


def _join(site: str, code: str, nickname: str) -> tuple[Reader, str]:
    """Return the person's browser, and the review's id."""
    reader = Reader(site)
    joined = reader.api("POST", "reviews/join/", {"code": code, "nickname": nickname})
    assert joined.status_code == 200, joined.text
    return reader, joined.json()["id"]


def _vote(joined: tuple[Reader, str], person: Person) -> None:
    reader, review = joined
    for number in count():
        following = reader.api("POST", f"reviews/{review}/next/")
        if following.status_code == 204:
            return
        assert following.status_code == 200, following.text
        battle = following.json()
        assert not _names(battle), "a name is shown before the vote"
        if person.asleep:
            return
        time.sleep(READING_S)
        voted = reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": person.choose(number, battle)})
        assert voted.status_code == 201, voted.text


def _names(battle: dict[str, Any]) -> list[str]:
    return re.findall("smollm2", str(battle).lower())


def _taste(number: int, battle: dict[str, Any]) -> str:
    """Prefer the shorter answer; a tie for about the same length, at times both are bad."""
    words = {answer["side"]: len(answer["text"].split()) for answer in battle["turns"][-1]["answers"]}
    if number == VOTES_OF_EACH - 1 and max(words.values()) > 80:
        return "both_bad"
    if min(words.values()) > 0.9 * max(words.values()):
        return "tie"
    return min(words, key=lambda side: words[side])


def _vote_on_a_phone(scene: Scene, link: str) -> None:
    page, film = scene.enter(PHONE, is_dark=True), scene.film
    page.goto(f"/{link}")
    film.say("I am one of the 40, and open the link on my phone.", 2)
    page.get_by_label("Nickname").fill("Pia")
    scene.press("Join", seconds=2)
    film.say("What shall I look for?", 2)
    scene.press("Begin", seconds=2)
    for number in range(VOTES_OF_EACH):
        expect(page.locator(".vote")).to_be_visible()
        _expect_no_names(page)
        film.say(("Which one?", "And here?")[min(number, 1)], 2)
        page.locator(".panes").first.evaluate("panes => panes.scrollBy({ left: panes.clientWidth })")
        film.look(READING_S)
        scene.press("A is better" if number % 2 else "B is better", seconds=2)
        scene.press("Continue", seconds=2)
    film.say("That was my part.", 2)


def _vote_in_french_by_keys(scene: Scene, code: str) -> None:
    """Vote without a mouse."""
    page, film = scene.enter(DESK, locale="fr-FR"), scene.film
    page.goto("/join/")
    film.say("Je n’ai que le code, au tableau, et pas de souris.", 2)
    _tab_to(page, "[name=code]")
    page.keyboard.type(code.lower())
    _tab_to(page, "[name=nickname]")
    page.keyboard.type("Chloé")
    film.look()
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/**")
    film.say("Je commence.", 2)
    page.keyboard.press("Enter")
    for number in range(VOTES_OF_EACH):
        expect(page.locator(".vote")).to_be_visible()
        film.say("Laquelle est meilleure ?", READING_S)
        page.keyboard.press(("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown")[number % 4])
        expect(page.locator(".reveal")).to_be_focused()
        film.look()
        page.keyboard.press("n")
        page.wait_for_load_state()
    film.say("J’ai terminé.", 2)


def _vote_at_a_desk(scene: Scene, link: str) -> None:
    page, film = scene.enter(DESK), scene.film
    page.goto(f"/{link}")
    scene.press("Join", seconds=1)
    scene.press("Begin", seconds=2)
    film.say("I vote at my desk, once, and leave.", READING_S)
    scene.press("Tie", seconds=2)
    page.goto("/reviews/")
    film.say("Where do I find it again?", 2)


def _expect_no_names(page: Page) -> None:
    assert not re.search("smollm2", page.locator("main").inner_html(), re.IGNORECASE)


def _tab_to(page: Page, selector: str) -> None:
    target = page.locator(selector)
    for _ in range(60):
        if target.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    expect(target).to_be_focused()


def _watch(scene: Scene, owner: Page, have_voted: Callable[[], bool]) -> None:
    """Look at the progress until everyone has voted; it tells no winner."""
    film = scene.film
    film.follow(owner)
    film.say("How far are they?")
    for _turn in count():
        owner.reload()
        film.look(5)
        _expect_no_names(owner)
        if have_voted():
            break
    results = owner.url.replace("/settings/", "/results/")
    owner.goto(results)
    film.say("Who leads? Hidden, from me too.", 2)
    expect(owner.get_by_text("The results are hidden until the review closes")).to_be_visible()
    owner.go_back()
    scene.press("People and how they vote", role="link", seconds=2)
    film.say("One of them always chose the left side.", 2)
    row = owner.locator("tbody tr").filter(has_text=re.compile(rf"\bP{OVER_HTTP - 2}\b"))
    row.scroll_into_view_if_needed()
    film.look(2)
    expect(row).to_contain_text("100 %")
    row.get_by_text("Set aside").first.click()
    row.get_by_label("Reason").fill("always left")
    scene.click(row.get_by_role("button", name="Set aside"), 2)


def _come_late(scene: Scene, link: str) -> None:
    page, film = scene.enter(PHONE), scene.film
    page.goto(f"/{link}")
    film.say("I am the forty-first.", 1)
    with film.refused(409):
        scene.press("Join", seconds=2)
    expect(page.get_by_text("As many people as expected have joined")).to_be_visible()


def _close(scene: Scene, owner: Page, review: str) -> None:
    film = scene.film
    film.follow(owner)
    owner.goto(f"{review}/settings/")
    film.say("Time is over: I close it.", 2)
    scene.press("Close now", seconds=2)
    scene.press("Results", role="link", seconds=3)
    film.say("Which answers do people prefer?", 2)
    expect(owner.get_by_text(re.compile(r"\d+ people by link, \d+ from one network, not verified"))).to_be_visible()
    owner.mouse.wheel(0, 700)
    film.look(2)
    owner.goto(f"{review}/agreement/")
    film.say("Do they agree with each other?", 3)


def _read_judgements(scene: Scene, owner: Page, run: str) -> None:
    """Look at three settings of the small model as judges of the same answers: their cards fail, and it is said."""
    film = scene.film
    owner.goto(f"/benchmarks/r/{run}/judgements/")
    film.say("Could the small model judge instead of people?", 3)
    for _ in range(3):
        owner.mouse.wheel(0, 700)
        film.look(2)
    # Each stands beside its own numbers, and beside those of all together if any verdict could be read.
    expect(owner.locator("main .error", has_text=DOUBTS).nth(len(SETTINGS) - 1)).to_be_visible()
    owner.goto("/benchmarks/judges/")
    film.say("My judges: how far can I trust them?", 2)
    for setting in SETTINGS:
        judge = owner.locator(".bench-list > li", has=owner.get_by_role("link", name=setting.capitalize(), exact=True))
        expect(judge.locator(".error")).to_have_text(re.compile(DOUBTS))
    owner.locator(".bench-list a").first.click()
    film.look(3)
