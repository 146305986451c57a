"""Seven journeys of people who have not read the documentation."""

import io
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Locator, ViewportSize, expect
from xlsxwriter import Workbook

from tools.films.campaign import campaign
from tools.films.scene import DESK, PHONE, Scene
from tools.films.school_class import school_class
from tools.screenshots.acts import TIMEOUT_MS, ask
from tools.screenshots.people import PASSWORD
from tools.screenshots.pictures import Who, World

GERMAN_SHEET = [
    ["Wissensfragen für den Vergleich, Stand März"],
    [],
    ["Nr.", "Frage", "Erwartete Antwort"],
    [1, "Wie heißt die Hauptstadt von Österreich?", "Wien"],
    [2, "Welcher Fluss fließt durch Köln?", "Rhein"],
    [3, "Wie viele Tage hat ein Schaltjahr?", "366"],
    [4, "Welche Farbe entsteht aus Blau und Gelb?", "Grün"],
    [5, "Wie heißt der höchste Berg der Alpen?", "Mont Blanc"],
    [6, "In welcher Stadt steht das Brandenburger Tor?", "Berlin"],
    [7, "Welches Metall hat das Zeichen Fe?", "Eisen"],
    [8, "Wie heißt die größte Stadt der Schweiz?", "Zürich"],
]


@dataclass(frozen=True)
class Journey:
    name: str
    about: str
    world: World
    screen: ViewportSize
    play: Callable[[Scene], None]


def newcomer(scene: Scene) -> None:
    for is_dark in (False, True):
        if is_dark:
            scene.enter(PHONE, is_dark=True)
        page, film = scene.page, scene.film
        page.goto("/")
        film.say("I open the address that a colleague sent me.", 2)
        film.say("I write a question; both models answer.")
        ask(page)
        film.look(3)
        film.say("I swipe to the other answer.")
        page.locator(".panes").first.evaluate("panes => panes.scrollBy({ left: panes.clientWidth })")
        film.look(2)
        page.get_by_role("button", name="A is better").wait_for(timeout=TIMEOUT_MS)
        film.say("Both are complete. Which is better?", 2)
        film.say("I vote, and read who answered.")
        scene.press("B is better", seconds=2)
        page.mouse.wheel(0, 500)
        film.look(1)
        film.say("Another one.")
        scene.press("Next battle", role="link", seconds=2)


def team_lead(scene: Scene) -> None:
    page, film = scene.page, scene.film
    scene.sign_in(Who.MEMBER)
    page.goto("/")
    film.say("Which model knows the answers of my spreadsheet?")
    scene.press("Benchmarks", role="link")
    scene.press("New template", role="link")
    film.say("I choose my German spreadsheet with a title above its table.")
    page.locator("input[type=file]").first.set_input_files(
        {"name": "Wissensfragen.xlsx", "mimeType": "application/octet-stream", "buffer": _german_sheet()}
    )
    film.look()
    scene.press("Next", seconds=2)
    film.say("It found my columns. How is an answer right?", 2)
    page.mouse.wheel(0, 900)
    film.look()
    scene.press("Make the template", seconds=2)
    film.say("The template. I look at its checks.")
    page.mouse.wheel(0, 600)
    film.look()
    scene.press("Edit the draft", role="link")
    page.locator("#checks").scroll_into_view_if_needed()
    film.say("The checks are fields. I add one.", 2)
    page.locator("#checks").get_by_text("Add a check").click()
    film.look()
    scene.press("has so many words")
    page.locator("#checks fieldset").nth(1).get_by_label("At most").fill("60")
    film.say("I try an answer before I save.")
    page.get_by_role("textbox", name="Answer", exact=True).fill("Die Hauptstadt heißt Wien.")
    scene.press("Try on this text", seconds=2)
    page.locator("form#draft > .buttons button").click()
    film.look()
    film.say("I start a run on two models.")
    scene.press("Start a run", role="link", seconds=2)
    boxes = page.locator(".model-choices input[type=checkbox]")
    for number in range(boxes.count()):
        if boxes.nth(number).is_enabled():
            boxes.nth(number).set_checked(number < 2)
    film.look(2)
    page.mouse.wheel(0, 600)
    film.look(2)
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/r/**")
    film.say("It runs, and I see results as they come.", 4)
    page.locator("#live[data-state=done]").wait_for(timeout=TIMEOUT_MS)
    film.say("The results.", 3)
    page.mouse.wheel(0, 600)
    film.look(2)
    film.say("All answers: where are they wrong?")
    scene.press("All answers", role="link", seconds=2)
    page.locator("tbody tr").nth(2).hover()
    film.look(2)
    page.locator("select[name=only]").select_option(index=1)
    film.look(2)
    film.say("My colleagues want the spreadsheet.")
    with page.expect_download() as download:
        page.get_by_role("link", name="Spreadsheet (XLSX)").first.click()
    film.say(f"It is called {download.value.suggested_filename}.")
    page.go_back()
    page.locator(".crumbs a").last.click()
    film.say("I share the report.")
    scene.press("Report", role="link", seconds=2)
    page.locator("form.panel input[type=radio]").last.check()
    scene.press("Save", seconds=2)
    address = page.url
    film.say("A colleague without an account opens it.")
    scene.enter(DESK)
    scene.page.goto(address)
    film.look(2)
    scene.page.mouse.wheel(0, 800)
    film.look(2)


def _german_sheet() -> bytes:
    content = io.BytesIO()
    with Workbook(content, {"in_memory": True}) as workbook:
        sheet = workbook.add_worksheet("Fragen")
        for number, row in enumerate(GERMAN_SHEET):
            sheet.write_row(number, 0, row)
    return content.getvalue()


def operator(scene: Scene) -> None:
    page, film = scene.page, scene.film
    page.goto("/admin/")
    film.say("I installed the arena and sign in to its administration.")
    scene.sign_in_by_form("otto@example.org", PASSWORD)
    film.say("First steps. I begin with the models.", 3)
    page.goto("/admin/models_registry/provider/add/")
    film.say("Where do the models run?", 2)
    scene.press("vLLM", role="link")
    page.get_by_label("Name:").fill("Our own server")
    page.get_by_label("Base URL:").fill(scene.provider.base_url)
    film.look()
    scene.press("Save", seconds=2)
    film.say("I take the list of its models.")
    scene.press("Get the list of models", seconds=2)
    page.locator("#content input[type=checkbox]").first.check()
    film.look()
    scene.press("Add the ticked models", seconds=2)
    film.say("I test all models at once.")
    page.goto("/admin/models_registry/languagemodel/tests/")
    film.look(2)
    page.locator("#content form [type=submit]").first.click()
    page.locator("#model-tests:not(:has-text('under way'))").wait_for(timeout=TIMEOUT_MS)
    film.look(2)
    film.say("Name, logo and colour of my arena.")
    page.goto("/admin/site_content/siteidentity/")
    film.look(2)
    page.mouse.wheel(0, 700)
    film.look(2)
    page.goto("/admin/site_content/siteidentity/")
    page.locator("#id_accent").fill("#7a1fa2")
    page.locator("[name^=name]").first.fill("Städtische Arena")
    scene.press("Save", seconds=2)
    film.say("Terms that people accept.")
    page.goto("/admin/site_content/pageversion/")
    film.look()
    page.goto("/admin/site_content/pageversion/add/?page=terms")
    film.look(2)
    page.mouse.wheel(0, 700)
    film.look(2)
    film.say("The first page again: alarms, and what is left of the first steps.")
    page.goto("/admin/")
    film.look(2)
    page.mouse.wheel(0, 800)
    film.look(2)
    film.say("The moderation queue.")
    page.goto("/admin/battles/moderationcase/")
    film.look(2)
    page.goto("/")
    film.say("My arena, as visitors see it.", 2)


def reader(scene: Scene) -> None:
    page, film = scene.page, scene.film
    page.goto("/leaderboard/")
    film.say("Who leads?", 3)
    film.say("Is the difference sure? I point at Rank.")
    page.locator(".standings thead a.explained").first.hover()
    film.look(2)
    film.say("What does this column mean? I walk through the heads by keyboard.")
    page.keyboard.press("Escape")
    page.locator(".standings thead a.explained").first.focus()
    for _ in range(page.locator(".standings thead .explained").count()):
        page.keyboard.press("Tab")
        film.look()
    film.say("How many votes?")
    page.mouse.wheel(0, 500)
    film.look(2)
    film.say("Which is best for German?")
    page.mouse.wheel(0, -500)
    page.locator("select[name=board]").select_option("language:de")
    film.look(2)
    film.say("And for code?")
    page.locator("select[name=board]").select_option("category:coding")
    film.look(2)
    film.say("The charts.")
    page.goto("/leaderboard/charts/")
    film.look(3)
    page.mouse.wheel(0, 800)
    film.look(2)
    film.say("How is it computed?")
    page.goto("/leaderboard/method/")
    film.look(3)
    page.mouse.wheel(0, 800)
    film.look(2)
    scene.enter(PHONE)
    scene.page.goto("/leaderboard/")
    film.say("The same on my phone: I tap the question marks.", 2)
    marks = scene.page.locator(".standings thead .explain")
    for number in range(min(4, marks.count())):
        marks.nth(number).tap()
        film.look()


def grader(scene: Scene) -> None:
    page, film = scene.page, scene.film
    scene.sign_in(Who.MEMBER)
    page.goto(f"/benchmarks/r/{scene.studio.state['ids']['run']}/")
    film.say("I grade answers by hand, with the keyboard alone.", 2)
    _tab_to(scene, page.locator("#grades a").first)
    film.look()
    page.keyboard.press("Enter")
    page.wait_for_url("**/items/**")
    film.say("I read question, answer and expected answer. p is correct, f is incorrect.", 2)
    for key, words in (("p", "Correct."), ("f", "Not correct."), ("4", "Four stars."), ("p", "Correct.")):
        page.keyboard.press(key)
        expect(page.locator(f"#grade-{key}")).to_have_attribute("aria-pressed", "true")
        film.say(words)
        before = page.url
        page.keyboard.press("ArrowDown")
        page.wait_for_url(lambda url, before=before: url != before)
        film.say("The next one.")
    film.say("A comment, too.")
    page.keyboard.press("f")
    film.look()
    _tab_to(scene, page.locator("[name=comment]"))
    page.keyboard.type("It names the country only.")
    film.look()
    page.keyboard.press("Tab")
    film.look()


def _tab_to(scene: Scene, target: Locator) -> None:
    for _ in range(80):
        if target.evaluate("one => one === document.activeElement"):
            return
        scene.page.keyboard.press("Tab")
    expect(target).to_be_focused()


JOURNEYS = [
    Journey("newcomer", "A newcomer on a phone casts the first vote.", World.NEW, PHONE, newcomer),
    Journey("team-lead", "A team lead compares models on a German spreadsheet.", World.PLAYED, DESK, team_lead),
    Journey("operator", "An operator's first hour.", World.NEW, DESK, operator),
    Journey("reader", "A reader asks the board five questions.", World.GENERATED, DESK, reader),
    Journey("grader", "A grader works by keyboard.", World.PLAYED, DESK, grader),
    Journey("class", "A class of forty joins a team by one link.", World.SCHOOL, DESK, school_class),
    Journey("campaign", "Forty people join a review by one link.", World.NEW, DESK, campaign),
]
