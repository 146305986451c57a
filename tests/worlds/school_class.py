"""A class over HTTP, behind one address: everyone signs up by one link into a team, battles and votes there."""

from typing import Any

from tests.site import Reader

PEOPLE, PASSWORD = 40, "a-good-password-1"


def sign_up(site: str, token: str, number: int) -> Reader:
    reader = Reader(site)
    sent = {"email": f"p{number}@class.example", "password1": PASSWORD, "invitation": token}
    reader.post(f"/accounts/signup/?invitation={token}", data={**sent, "next": f"/teams/join/?invitation={token}"})
    return reader


def ask(reader: Reader, prompt: str, team: str) -> Any:
    return reader.api("POST", "sessions/", {"prompt": prompt, "team": team})


def battle_and_vote(reader: Reader, prompt: str, team: str, choice: str) -> None:
    begun = ask(reader, prompt, team)
    assert begun.status_code == 201, begun.text
    battle = reader.wait_until_answered(begun.json()["battles"][0])
    voted = reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": choice})
    assert voted.status_code == 201, voted.text
