"""Texts of the pages that depend on a battle's mode."""

from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from battles.auto.options import AUTO
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


# Keys: Battle.Mode, and AUTO for the form of a new question.
MODE_WORDS: dict[str, ModeWords] = {
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
        failed=_("One model failed. Your vote covers the earlier turns only. You can also ask something else."),
        void=_("This battle ended without two answers, so it does not count. Start a new battle with new models."),
        void_news=_("This battle ended without two answers."),
        vote=_("A vote cannot be undone. It reveals the names."),
        shared=_("A blind battle: the names were hidden until the vote."),
    ),
    Battle.Mode.SIDE_BY_SIDE: ModeWords(
        heading=_("Two models answer side by side."),
        introduction=_("You see their names. Votes count on a separate board."),
        ask=_("What would you like to ask two models?"),
        start=_("Start the battle"),
        ask_next=_("What would you like to ask them next?"),
        follow_up=_("Follow up with both"),
        start_again=_("New battle with the same models"),
        answering=_("Both models are answering."),
        answering_then=_("Both models are answering. You can vote when they are done."),
        complete=_("Both answers are complete."),
        failed=_("One model failed. Your vote covers the earlier turns only. You can also ask something else."),
        void=_("This battle ended without two answers, so it does not count."),
        void_news=_("This battle ended without two answers."),
        vote=_("A vote cannot be undone. It counts on the side-by-side board."),
        shared=_("Side by side: the names were visible."),
    ),
    Battle.Mode.COMPARE: ModeWords(
        heading=_("One prompt, up to six answers."),
        introduction=_("You see their names, times and costs. Stars count on a separate board."),
        ask=_("What would you like to ask all of them?"),
        start=_("Compare"),
        ask_next=_("What would you like to ask them next?"),
        follow_up=_("Follow up with all"),
        start_again=_("New battle with the same models"),
        answering=_("The models are answering."),
        answering_then=_("The models are answering. You can give stars when they are done."),
        complete=_("The answers are complete."),
        failed=_("Not every model answered. Your next prompt goes to all of them again."),
        void=_("None of the models could answer. Try again, or choose other models."),
        void_news=_("No model could answer."),
        shared=_("A comparison: the names were visible."),
    ),
    Battle.Mode.DIRECT: ModeWords(
        heading=_("Talk with one model."),
        introduction=_("There is no vote, and nothing counts for the leaderboard."),
        ask=_("What would you like to ask?"),
        start=_("Send"),
        ask_next=_("What would you like to ask them next?"),
        follow_up=_("Send"),
        start_again=_("New chat with this model"),
        answering=_("The model is answering."),
        answering_then=_("The model is answering."),
        complete=_("The answer is complete."),
        failed=_("The model failed. You can also ask something else."),
        void=_("The model could not answer. Try again, or choose another model."),
        void_news=_("No model could answer."),
        shared=_("A chat with one model."),
    ),
}
# No form starts a battle of a review, and nothing follows up.
MODE_WORDS[Battle.Mode.REVIEW] = replace(
    MODE_WORDS[Battle.Mode.BLIND],
    introduction=_("Their names stay hidden until you vote, and your vote counts in this review only."),
    vote=_("A vote cannot be undone. It counts in this review only."),
)
# Only the form uses these: a battle of auto mode has the words of its own mode.
MODE_WORDS[AUTO] = replace(
    MODE_WORDS[Battle.Mode.DIRECT],
    heading=_("The arena chooses the model."),
    introduction=_("By the votes on such questions. Where two may be the best, both answer and you decide."),
    ask_next=_("What would you like to ask next?"),
    start_again=_("New question"),
    shared=_("A question to the model that the arena chose."),
)
