"""Everyday prompts and real answers of the local model, for the pictures."""

from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from typing import Any

from tests.site import Reader

PROMPTS = [
    "Explain why the sky is blue to a curious ten-year-old.",
    "Write a Python function that tells whether a word is a palindrome, with three tests.",
    "What should I cook tonight with rice, eggs and spinach?",
    "A train leaves at 9:40 and arrives at 12:15. How long does it take? Show your steps.",
    "Write a short poem about a lighthouse in winter.",
    "Qu’est-ce qu’une marée, et pourquoi y en a-t-il deux par jour ?",
    "Give me three arguments for and three against working from home.",
    "Summarise the plot of Romeo and Juliet in exactly two sentences.",
    "How do vaccines train the immune system?",
    "Write a polite e-mail to a landlord about a broken heater.",
    "What is the difference between a list and a tuple in Python?",
    "If 3 notebooks cost 7.50, what do 8 notebooks cost?",
    "Plan a quiet weekend in a city by the sea, in a table.",
    "Erkläre in einfachen Worten, wie ein Kühlschrank funktioniert.",
    "Which planets can be seen without a telescope?",
    "Write a SQL query for the ten customers with the most orders this year.",
]
FOLLOW_UP = "Can you say the same in one sentence?"
COMPARED = "Name three reasons to learn a second language, as a list."
STARS = (4, 2, 3)
FILE = ("notes-on-the-lighthouse.txt", b"The lighthouse was built in 1863. Its lamp is seen from 31 kilometres away.\n")
VISITORS = 8
CONCURRENCY = 2  # the local model's slots suffice for two battles


def play(site: str, number: int) -> tuple[Reader, dict[str, str]]:
    """Play `number` blind battles of several visitors with votes, then one of every other kind by the first visitor.

    Returns the first visitor, and ids for URLs by name: sessions as `voted`, battles as `voted_battle`.
    """
    visitors = [Reader(site) for _ in range(VISITORS)]
    work = list(islice(zip(cycle(visitors), cycle(PROMPTS), strict=False), number))
    with ThreadPoolExecutor(CONCURRENCY) as threads:
        list(threads.map(lambda turn: _play_one(*turn), work))
    first = visitors[0]
    return first, _one_of_each(first)


def _play_one(visitor: Reader, prompt: str) -> None:
    _session, battle = _ask(visitor, prompt)
    if battle["can_vote"]:
        visitor.api("POST", f"battles/{battle['id']}/vote/", {"choice": _longer(battle)})


def _one_of_each(visitor: Reader) -> dict[str, str]:
    slugs = [model["id"] for model in visitor.api("GET", "models/").json()["results"] if "smollm2" in model["id"]]
    file = visitor.request("POST", "/api/v1/uploads/", files={"file": FILE}).json()["id"]
    battles = {
        "asked_again": _ask(visitor, PROMPTS[14]),
        "unvoted": _ask(visitor, PROMPTS[0]),
        "voted": _ask(visitor, PROMPTS[4]),
        "with_file": _ask(visitor, "When was the lighthouse built?", attachments=[file]),
        "compared": _ask(visitor, COMPARED, mode="compare", models=slugs),
        "beside": _ask(visitor, PROMPTS[6], mode="side_by_side", models=slugs[:2]),
        "direct": _ask(visitor, PROMPTS[8], mode="direct", models=slugs[:1]),
    }
    ids = {name: session for name, (session, _battle) in battles.items()}
    ids |= {f"{name}_battle": battle["id"] for name, (_session, battle) in battles.items()}
    for name in ("voted", "asked_again", "beside"):
        visitor.api("POST", f"battles/{ids[f'{name}_battle']}/vote/", {"choice": _longer(battles[name][1])})
    _follow_up(visitor, ids["asked_again_battle"])
    _follow_up(visitor, ids["direct_battle"])
    feedback = {"tags": {"left": ["clear"], "right": ["shallow"]}, "comment": "The left one has a rhythm."}
    visitor.api("POST", f"battles/{ids['voted_battle']}/feedback/", feedback)
    for answer, stars in zip(battles["compared"][1]["turns"][0]["answers"], STARS, strict=False):
        visitor.api("POST", f"answers/{answer['id']}/rating/", {"stars": stars})
    share = visitor.api("POST", f"battles/{ids['voted_battle']}/publish/").json()["id"]
    visitor.api("POST", f"battles/{ids['voted_battle']}/gallery/")
    return ids | {"share": share, "file": file, "model": slugs[0], "other_model": slugs[1]}


def _ask(visitor: Reader, prompt: str, **body: Any) -> tuple[str, dict[str, Any]]:
    """Return the session's id and the answered battle."""
    response = visitor.api("POST", "sessions/", {"prompt": prompt, **body})
    assert response.status_code == 201, response.text
    session = response.json()
    return session["id"], visitor.wait_until_answered(session["battles"][0])


def _follow_up(visitor: Reader, battle: str) -> None:
    response = visitor.api("POST", f"battles/{battle}/messages/", {"prompt": FOLLOW_UP})
    assert response.status_code in (200, 201), response.text
    visitor.wait_until_answered(visitor.battle(battle))


def _longer(battle: dict[str, Any]) -> str:
    """Return the vote of a simple judge: the longer answer, or a tie for about the same length."""
    words = {answer["side"]: len(answer["text"].split()) for answer in battle["turns"][-1]["answers"]}
    if max(words.values()) < 12:
        return "both_bad"
    if min(words.values()) > 0.85 * max(words.values()):
        return "tie"
    return max(words, key=lambda side: words[side])
