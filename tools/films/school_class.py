"""The journey of a teacher: 40 people join by one link; one of them is filmed, the others act over HTTP meanwhile."""

from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.concurrency import race
from tests.site import Reader
from tests.worlds.school_class import PEOPLE, battle_and_vote, sign_up
from tools.films.scene import PHONE, Scene
from tools.screenshots.acts import TIMEOUT_MS, ask
from tools.screenshots.people import PASSWORD

SLUG = "optics"
PROMPTS = ("Why is the sky blue? One sentence.", "What is a lens? One sentence.", "Name the colours of the rainbow.")
CHOICES = ("left", "right", "left", "tie", "both_bad")
CONCURRENCY = 4
VOTERS = (
    "SELECT (facts->>'voters')::integer FROM leaderboard_aggregationrun WHERE scope LIKE %s ORDER BY id DESC LIMIT 1"
)


def school_class(scene: Scene) -> None:
    teacher = scene.page
    link = _make_team(scene)
    with ThreadPoolExecutor(1) as thread:
        others = thread.submit(_act, scene.studio.arena.url, parse_qs(urlsplit(link).query)["invitation"][0])
        _join_and_vote(scene, link)
        _wait(scene, teacher, others)
    _come_late(scene, link)
    scene.studio.arena.manage("aggregate_votes")
    _look_back(scene, teacher)


def _make_team(scene: Scene) -> str:
    """Return the link for the class."""
    page, film = scene.page, scene.film
    page.goto("/")
    film.say("I teach physics. My class shall compare models, with a limit of money for each.")
    scene.press("Sign in", role="link")
    scene.sign_in_by_form("vera@example.org", PASSWORD)
    film.look()
    scene.press("Account", role="link")
    film.say("Is there a place for a class?")
    scene.press("Teams", role="link")
    scene.press("Create a team", role="link")
    film.say("I make a team.")
    page.get_by_label("Name").fill("Optics, 11b")
    page.get_by_label("Address").fill(SLUG)
    film.look()
    scene.press("Create the team", seconds=2)
    film.say("What may each of them spend?")
    scene.press("Spending", role="link")
    page.get_by_label("Each member, US dollars a month").fill("0.50")
    film.look()
    scene.press("Save budgets", seconds=2)
    film.say("One link for all forty.")
    scene.press("Invitations", role="link")
    page.get_by_label("How many people can use the link").fill(str(PEOPLE))
    page.get_by_label("For how many days").fill("1")
    film.look()
    scene.press("Make a link", seconds=2)
    film.say("I show the link to the class.", 2)
    return page.locator("#new-link").input_value()


def _act(site: str, token: str) -> None:
    """Join at once, all but the one who is filmed; then battle and vote, as many at a time as the local model bears."""
    readers = race(lambda number: sign_up(site, token, number), range(1, PEOPLE))
    with ThreadPoolExecutor(CONCURRENCY) as threads:
        list(threads.map(_battle, readers, cycle(PROMPTS), cycle(CHOICES)))


def _battle(reader: Reader, prompt: str, choice: str) -> None:
    battle_and_vote(reader, prompt, SLUG, choice)


def _join_and_vote(scene: Scene, link: str) -> None:
    page, film = scene.enter(PHONE, is_dark=True), scene.film
    page.goto(link)
    film.say("I am in the class, and open the link on my phone, as all others do right now.", 2)
    scene.press("Create an account", role="link")
    page.locator("[name=email]").fill("pia@class.example")
    page.locator("[name=password1]").fill(PASSWORD)
    film.look()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/teams/{SLUG}/")
    film.say("I am in the team.", 2)
    scene.press("New battle", role="link")
    film.say("I ask in the team; both models answer.")
    ask(page)
    page.get_by_role("button", name="A is better").wait_for(timeout=TIMEOUT_MS)
    film.say("Which is better?", 2)
    scene.press("A is better", seconds=2)
    page.mouse.wheel(0, 500)
    film.say("I vote, and read who answered.", 2)
    page.goto(f"/teams/{SLUG}/spending/")
    film.say("What is left for me?", 2)


def _wait(scene: Scene, teacher: Page, others: Future[None]) -> None:
    """Look at the members once, then at the spending until everyone has voted."""
    film = scene.film
    film.follow(teacher)
    film.say("Are they all here?")
    scene.press("Members", role="link", seconds=2)
    teacher.mouse.wheel(0, 3000)
    film.look()
    film.say("I watch what they spend, until all have voted.")
    while not others.done():
        teacher.goto(f"/teams/{SLUG}/spending/")
        film.look(10)
    others.result()


def _come_late(scene: Scene, link: str) -> None:
    page, film = scene.enter(PHONE), scene.film
    with film.refused(409):
        page.goto(link)
    film.say("I am new in the class: the forty-first with this link.", 2)


def _look_back(scene: Scene, teacher: Page) -> None:
    film = scene.film
    film.follow(teacher)
    film.say("Is the link used up?")
    scene.press("Invitations", role="link", seconds=2)
    film.say("Who spent how much?")
    scene.press("Spending", role="link", seconds=2)
    teacher.mouse.wheel(0, 2000)
    film.look(2)
    teacher.mouse.wheel(0, -2000)
    film.say("Which model does my class prefer?")
    scene.press("Leaderboard", role="link", seconds=2)
    teacher.mouse.wheel(0, 500)
    film.look(2)
    expect(teacher.get_by_text(f"{PEOPLE} counted votes").first).to_be_visible()
    [[voters]] = scene.studio.arena.query(VOTERS, "team:%/overall")
    assert voters == PEOPLE
