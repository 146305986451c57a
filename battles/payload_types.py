"""Sessions and battles as the API gives them. battles/payloads.py decides what of it is there before the vote."""

from typing import Literal, NotRequired, TypedDict

from common.payload_types import Moment
from models_registry.payload_types import ModelPayload
from uploads.payload_types import UploadKind

SideName = Literal["left", "right", "1", "2", "3", "4", "5", "6"]
Mode = Literal["blind", "side_by_side", "compare", "direct"]
Choice = Literal["left", "right", "tie", "both_bad"]
BattleState = Literal["answering", "awaiting_vote", "voted", "void", "open"]
AnswerState = Literal["queued", "streaming", "done", "stopped", "failed"]
EndState = Literal["done", "stopped", "failed"]


class AnswerPayload(TypedDict):
    """What one side says. `html` is `text` made safe to show; `error` says only that there is one until the names are
    known. From then on there are the fields from `id` on; `stars` only where many are compared."""

    side: SideName
    state: AnswerState
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


class AttachedFilePayload(TypedDict):
    """An upload that went with a prompt. What models were sent of it: `uploads/{id}/text/`."""

    id: str
    name: str
    media_type: str
    kind: UploadKind
    size: int


class TurnPayload(TypedDict):
    """A prompt and what each side says to it. Models see the turns from `context_from` on. `warnings` are what
    moderation has to say about the prompt."""

    index: int
    prompt: str
    attachments: list[AttachedFilePayload]
    after_vote: bool
    is_live: bool
    is_failed_follow_up: bool
    context_from: int
    warnings: list[str]
    answers: list[AnswerPayload]


class VotePayload(TypedDict):
    """The verdict on a battle, and why it is not counted where it is not."""

    choice: Choice
    tags: dict[str, list[str]]
    comment: str
    created_at: Moment
    counted: bool
    excluded_reason: str | None


class SidePayload(TypedDict):
    """Who answers on a side."""

    side: SideName
    model: ModelPayload


class PublicPagePayload(TypedDict):
    """A battle's public page: where it is, and up to which turn it goes."""

    id: str
    url: str
    turn_count: int
    published_at: Moment


class BattlePayload(TypedDict):
    """Models answering the same prompts. `sides` is null until the names are known: after the vote, or from the start
    where a person chose them. `stream_url` is the live turn's, null while nothing is being answered. Of a battle that
    a moderator has `hidden`, texts are empty. `consent`: its prompts and answers may be published with its vote, which
    has ended at `consent_withdrawn_at`."""

    id: str
    session: str
    mode: Mode
    state: BattleState
    categories: list[str]
    turns: list[TurnPayload]
    vote: VotePayload | None
    sides: list[SidePayload] | None
    stream_url: str | None
    hidden: bool
    consent: bool
    consent_withdrawn_at: Moment | None
    can_vote: bool
    can_follow_up: bool
    can_stop: bool
    can_regenerate: bool
    can_publish: bool
    share: PublicPagePayload | None
    created_at: Moment


class SharedFilePayload(TypedDict):
    """A file that went with a prompt: it is named, and not to be had."""

    name: str
    kind: UploadKind


class SharedAnswerPayload(TypedDict):
    """What one side said, without what only its owner can use. What is not known, or not asked, is null."""

    side: SideName
    state: EndState
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


class SharedTurnPayload(TypedDict):
    """A prompt and what each side said to it. Models saw the turns from `context_from` on."""

    index: int
    prompt: str
    attachments: list[SharedFilePayload]
    after_vote: bool
    context_from: int
    answers: list[SharedAnswerPayload]


class SharedVotePayload(TypedDict):
    choice: Choice


class SharedBattlePayload(TypedDict):
    """A published battle: `title` is the beginning of its first prompt, `verdict` says in a sentence who was found
    better. `url` is its page."""

    id: str
    url: str
    published_at: Moment
    title: str
    verdict: str
    mode: Mode
    state: Literal["voted", "open"]
    turns: list[SharedTurnPayload]
    vote: SharedVotePayload | None
    sides: list[SidePayload]
    created_at: Moment


class SharedTurnPage(SharedTurnPayload):
    """A published turn as templates print it."""

    is_live: Literal[False]


class SharedBattlePage(TypedDict):
    """A published battle as templates print it; they are those of a person's own battles."""

    id: str
    mode: Mode
    state: Literal["voted", "open"]
    is_shared: Literal[True]
    turns: list[SharedTurnPage]
    vote: SharedVotePayload | None
    sides: list[SidePayload]
    created_at: Moment


class SharedSession(TypedDict):
    """A published battle as a session of it alone, for session_export."""

    id: str
    title: str
    created_at: Moment
    battles: list[SharedBattlePage]


class ConsentPayload(TypedDict):
    """What is agreed to with `consent`: the words, in the language of `Accept-Language`, and which ones they are; both
    empty where the arena publishes no prompts. `battles`: for how many of yours it stands."""

    text: str
    version: str
    battles: int


class ReportPayload(TypedDict):
    """What a person said against a battle. The first time stands."""

    battle: str
    reason: str
    created_at: Moment


class SessionHeadPayload(TypedDict):
    id: str
    title: str
    created_at: Moment
    last_active_at: Moment
    archived: bool


class SessionSummaryPayload(SessionHeadPayload):
    """A session in a list. models: at most four whose names you were told; names_hidden: others wait for a vote."""

    battle_count: int
    models: list[str]
    names_hidden: bool


class SessionPayload(SessionHeadPayload):
    """Battles that belong together, the oldest first."""

    battles: list[BattlePayload]


class MessagePayload(TypedDict):
    """As OpenAI's API has it, and the names of the files that went with it."""

    role: Literal["user", "assistant"]
    content: str
    attachments: NotRequired[list[str]]


class ExportedSidePayload(TypedDict):
    """One side's conversation; `model` is null until the names are known."""

    side: SideName
    model: str | None
    messages: list[MessagePayload]


class ExportedBattlePayload(TypedDict):
    """A battle as conversations."""

    id: str
    mode: Mode
    state: str
    created_at: Moment
    vote: Choice | None
    sides: list[ExportedSidePayload]


class ExportedSessionPayload(TypedDict):
    """A session as a file."""

    id: str
    title: str
    created_at: Moment
    battles: list[ExportedBattlePayload]
