"""Sessions and battles as the API gives them. battles/payloads.py decides what of it is there before the vote."""

from typing import Literal, NotRequired, TypedDict

from common.api.schema import Moment
from models_registry.api.schema import Model

SideName = Literal["left", "right", "1", "2", "3", "4", "5", "6"]
Mode = Literal["blind", "side_by_side", "compare", "direct"]
Choice = Literal["left", "right", "tie", "both_bad"]


class Answer(TypedDict):
    """What one side says. `html` is `text` made safe to show; `error` says only that there is one until the names are
    known. From then on there are the fields from `id` on; `stars` only where many are compared."""

    side: SideName
    state: Literal["queued", "streaming", "done", "stopped", "failed"]
    text: str
    html: str
    error: str | None
    error_message: str
    id: NotRequired[str]
    reasoning: NotRequired[str]
    prompt_tokens: NotRequired[int | None]
    completion_tokens: NotRequired[int | None]
    reasoning_tokens: NotRequired[int | None]
    cost: NotRequired[str | None]
    first_token_ms: NotRequired[int | None]
    total_ms: NotRequired[int | None]
    finish: NotRequired[str | None]
    stars: NotRequired[int | None]


class AttachedFile(TypedDict):
    """An upload that went with a prompt. What models were sent of it: `uploads/{id}/text/`."""

    id: str
    name: str
    media_type: str
    kind: Literal["document", "image"]
    size: int


class Turn(TypedDict):
    """A prompt and what each side says to it. Models see the turns from `context_from` on. `warnings` are what
    moderation has to say about the prompt."""

    index: int
    prompt: str
    attachments: list[AttachedFile]
    after_vote: bool
    is_live: bool
    is_failed_follow_up: bool
    context_from: int
    warnings: list[str]
    answers: list[Answer]


class Vote(TypedDict):
    """The verdict on a battle, and why it is not counted where it is not."""

    choice: Choice
    tags: dict[str, list[str]]
    comment: str
    created_at: Moment
    counted: bool
    excluded_reason: str | None


class Side(TypedDict):
    """Who answers on a side."""

    side: SideName
    model: Model


class PublicPage(TypedDict):
    """A battle's public page: where it is, and up to which turn it goes."""

    id: str
    url: str
    turn_count: int
    published_at: Moment


class Battle(TypedDict):
    """Models answering the same prompts. `sides` is null until the names are known: after the vote, or from the start
    where a person chose them. `stream_url` is the live turn's, null while nothing is being answered. Of a battle that
    a moderator has `hidden`, texts are empty. `consent`: its prompts and answers may be published with its vote, which
    has ended at `consent_withdrawn_at`."""

    id: str
    session: str
    mode: Mode
    state: Literal["answering", "awaiting_vote", "voted", "void", "open"]
    categories: list[str]
    turns: list[Turn]
    vote: Vote | None
    sides: list[Side] | None
    stream_url: str | None
    hidden: bool
    consent: bool
    consent_withdrawn_at: Moment | None
    can_vote: bool
    can_follow_up: bool
    can_stop: bool
    can_regenerate: bool
    can_publish: bool
    share: PublicPage | None
    created_at: Moment


class SharedFile(TypedDict):
    """A file that went with a prompt: it is named, and not to be had."""

    name: str
    kind: Literal["document", "image"]


class SharedAnswer(TypedDict):
    """What one side said, without what only its owner can use. What is not known, or not asked, is null."""

    side: SideName
    state: Literal["done", "stopped", "failed"]
    text: str
    html: str
    error: str | None
    error_message: str
    stars: int | None
    reasoning: str
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost: str | None
    first_token_ms: int | None
    total_ms: int | None
    finish: str | None


class SharedTurn(TypedDict):
    """A prompt and what each side said to it. Models saw the turns from `context_from` on."""

    index: int
    prompt: str
    attachments: list[SharedFile]
    after_vote: bool
    context_from: int
    answers: list[SharedAnswer]


class SharedVote(TypedDict):
    choice: Choice


class SharedBattle(TypedDict):
    """A published battle: `title` is the beginning of its first prompt, `verdict` says in a sentence who was found
    better. `url` is its page."""

    id: str
    url: str
    published_at: Moment
    title: str
    verdict: str
    mode: Mode
    state: Literal["voted", "open"]
    turns: list[SharedTurn]
    vote: SharedVote | None
    sides: list[Side]
    created_at: Moment


class Consent(TypedDict):
    """What is agreed to with `consent`: the words, in the language of `Accept-Language`, and which ones they are; both
    empty where the arena publishes no prompts. `battles`: for how many of yours it stands."""

    text: str
    version: str
    battles: int


class Report(TypedDict):
    """What a person said against a battle. The first time stands."""

    battle: str
    reason: str
    created_at: Moment


class SessionHead(TypedDict):
    id: str
    title: str
    created_at: Moment
    last_active_at: Moment
    archived: bool


class SessionSummary(SessionHead):
    """A session in a list. models: at most four whose names you were told; names_hidden: others wait for a vote."""

    battle_count: int
    models: list[str]
    names_hidden: bool


class Session(SessionHead):
    """Battles that belong together, the oldest first."""

    battles: list[Battle]


class Message(TypedDict):
    """As OpenAI's API has it, and the names of the files that went with it."""

    role: Literal["user", "assistant"]
    content: str
    attachments: NotRequired[list[str]]


class ExportedSide(TypedDict):
    """One side's conversation; `model` is null until the names are known."""

    side: SideName
    model: str | None
    messages: list[Message]


class ExportedBattle(TypedDict):
    """A battle as conversations."""

    id: str
    mode: Mode
    state: str
    created_at: Moment
    vote: Choice | None
    sides: list[ExportedSide]


class ExportedSession(TypedDict):
    """A session as a file."""

    id: str
    title: str
    created_at: Moment
    battles: list[ExportedBattle]
