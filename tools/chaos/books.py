"""Check after the chaos: stored votes and answers equal those that the people received."""

import sys

from tests.waiting import wait_for
from tests.worlds.arena import Arena
from tools.chaos.people import Tally


def check(arena: Arena, tally: Tally) -> None:
    """Add a complaint to the tally for each inconsistency."""
    wait_for(lambda: _has_aggregated(arena), within=60)  # a run of the schedule may be under way
    votes = arena.query(
        'SELECT battle.public_id, vote.choice, vote."order" FROM battles_vote AS vote '
        "JOIN battles_battle AS battle ON battle.id = vote.battle_id"
    )
    stored = {battle: choice for battle, choice, _ in votes}
    for battle, choice in tally.acknowledged.items():
        if stored.get(battle) != choice:
            tally.complain(f"the vote {choice} on {battle} is {stored.get(battle)}")
    if len(stored) != len(votes):
        tally.complain("a battle has two votes")
    if sorted(order for *_, order in votes) != list(range(1, len(votes) + 1)):
        tally.complain("the order of votes has gaps")
    [(counted, tallied)] = arena.query(
        "SELECT (SELECT count(*) FROM battles_vote WHERE excluded_reason = ''), "
        "(SELECT coalesce(sum(n), 0) FROM leaderboard_pairtally WHERE scope = 'overall')"
    )
    if counted != tallied:
        tally.complain(f"{counted} votes count, and {tallied} are in the tallies")
    answers = arena.query(
        "SELECT battle.public_id, turn.prompt, answer.state, answer.text FROM battles_answer AS answer "
        "JOIN battles_turn AS turn ON turn.id = answer.turn_id JOIN battles_battle AS battle "
        "ON battle.id = turn.battle_id"
    )
    for battle, prompt, state, text in answers:
        if tally.prompts.get(battle, prompt) != prompt:
            tally.complain(f"{battle} was asked something else")
        if state == "done" and text != prompt + " ":
            tally.complain(f"the text of {battle} is wrong")
        if not (prompt + " ").startswith(text):
            tally.complain(f"the text of {battle} is mixed or doubled")
        if state == "queued":
            tally.complain(f"an answer of {battle} is stuck")
    known = len({battle for battle, *_ in answers})
    if known != len(tally.prompts):
        tally.complain(f"{len(tally.prompts)} battles were begun, and {known} are stored")


def _has_aggregated(arena: Arena) -> bool:
    done = arena.run(sys.executable, "manage.py", "aggregate_votes")
    assert done.returncode == 0 or "Another run" in done.stderr, done.stderr
    return done.returncode == 0
