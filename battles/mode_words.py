"""Sentences that differ between the modes of a battle, for the pages."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from battles.models import Battle


@dataclass(frozen=True, kw_only=True)
class ModeWords:
    heading: Promise
    introduction: Promise
    ask: Promise
    start: Promise
    ask_next: Promise
    follow_up: Promise
    start_again: Promise
    answering: Promise
    answering_then: Promise
    complete: Promise
    failed: Promise
    void: Promise
    void_news: Promise
    vote: Promise | None = None
    shared: Promise


MODE_WORDS = {
    Battle.Mode.BLIND: ModeWords(
        heading=_("Two models answer. You say which is better."),
        introduction=_("Their names stay hidden until you vote, and your vote moves the leaderboard."),
        ask=_("What would you like to ask two models?"),
        start=_("Start the battle"),
        ask_next=_("What would you like to ask two other models?"),
        follow_up=_("Follow up with both"),
        start_again=_("New battle"),
        answering=_("Both models are answering."),
        answering_then=_("Both models are answering. You can vote when they are done."),
        complete=_("Both answers are complete."),
        failed=_(
            "A side could not answer this, so it does not count: your vote is on the turns before it. You may also ask "
            "something else."
        ),
        void=_(
            "This battle ended without two answers, so there is nothing to vote on and nothing is counted. A new "
            "battle draws a new pair."
        ),
        void_news=_("This battle ended without two answers."),
        vote=_("A vote cannot be undone; the names appear after it."),
        shared=_("A blind battle: whoever voted did not know who answered."),
    ),
    Battle.Mode.SIDE_BY_SIDE: ModeWords(
        heading=_("Two models answer side by side."),
        introduction=_("You see who they are. Votes count on a board of their own, not on the blind one."),
        ask=_("What would you like to ask two models?"),
        start=_("Start the battle"),
        ask_next=_("What would you like to ask them next?"),
        follow_up=_("Follow up with both"),
        start_again=_("Anew with the same models"),
        answering=_("Both models are answering."),
        answering_then=_("Both models are answering. You can vote when they are done."),
        complete=_("Both answers are complete."),
        failed=_(
            "A side could not answer this, so it does not count: your vote is on the turns before it. You may also ask "
            "something else."
        ),
        void=_("This battle ended without two answers, so there is nothing to vote on and nothing is counted."),
        void_news=_("This battle ended without two answers."),
        vote=_("A vote cannot be undone; it counts on the board for side by side."),
        shared=_("Side by side: whoever asked knew who answered."),
    ),
    Battle.Mode.COMPARE: ModeWords(
        heading=_("One prompt, up to six answers."),
        introduction=_(
            "You see who they are, how long they took and what they cost. Stars count on a board of their own."
        ),
        ask=_("What would you like to ask all of them?"),
        start=_("Compare"),
        ask_next=_("What would you like to ask them next?"),
        follow_up=_("Follow up with all"),
        start_again=_("Anew with the same models"),
        answering=_("The models are answering."),
        answering_then=_("The models are answering. You can give stars when they are done."),
        complete=_("The answers are complete."),
        failed=_("Not every model could answer this. What you ask next goes to all of them again."),
        void=_("None of the models could answer. Please try again, or compare others."),
        void_news=_("No model could answer."),
        shared=_("A comparison: whoever asked knew who answered."),
    ),
    Battle.Mode.DIRECT: ModeWords(
        heading=_("Talk with one model."),
        introduction=_("Nothing is voted on or counted."),
        ask=_("What would you like to ask?"),
        start=_("Send"),
        ask_next=_("What would you like to ask them next?"),
        follow_up=_("Send"),
        start_again=_("New chat with it"),
        answering=_("The model is answering."),
        answering_then=_("The model is answering."),
        complete=_("The answer is complete."),
        failed=_("The model could not answer this. You may also ask something else."),
        void=_("The model could not answer. Please try again, or talk with another."),
        void_news=_("No model could answer."),
        shared=_("A chat with one model."),
    ),
}
