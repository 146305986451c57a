from typing import Literal, NotRequired, TypedDict

from battles.auto.payload_types import BattleDecisionPayload
from common.payload_types import Moment
from models_registry.payload_types import EnergyPayload, ModelPayload
from uploads.payload_types import UploadKind

SideName = Literal["left", "right", "1", "2", "3", "4", "5", "6"]
Mode = Literal["blind", "side_by_side", "compare", "direct", "review"]
Origin = Literal["draw", "router"]
Choice = Literal["left", "right", "tie", "both_bad"]
BattleState = Literal["answering", "awaiting_vote", "voted", "void", "open"]
AnswerState = Literal["queued", "streaming", "done", "stopped", "failed"]
EndState = Literal["done", "stopped", "failed"]


class AnswerPayload(TypedDict):
    """Answer of one side. `html` is `text` rendered to safe HTML. Until the names are revealed, `error` does not name
    the cause, and the fields from `id` on are missing; `stars` is present in comparisons only."""

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
    energy: NotRequired[EnergyPayload | None]
    stars: NotRequired[int | None]


class AttachedFilePayload(TypedDict):
    """Upload attached to a prompt. `uploads/{id}/text/` has the text that models receive."""

    id: str
    name: str
    media_type: str
    kind: UploadKind
    size: int


class TurnPayload(TypedDict):
    """Prompt with the answer of each side. Models see the turns from `context_from` on. `warnings` are the categories
    that moderation found in the prompt."""

    index: int
    prompt: str
    attachments: list[AttachedFilePayload]
    after_vote: bool
    is_live: bool
    is_failed_follow_up: bool
    context_from: int
    warnings: list[str]
    answers: list[AnswerPayload]


class CountedPayload(TypedDict):
    counted: bool
    excluded_reason: str | None


class VotePayload(CountedPayload):
    """Vote on a battle; `excluded_reason` is set if it is not counted."""

    choice: Choice
    tags: dict[str, list[str]]
    comment: str
    created_at: Moment


class VotedModelPayload(TypedDict):
    """Model that a vote is about; `id` is its slug."""

    id: str
    name: str


class OwnVotePayload(CountedPayload):
    """One of your votes. `title` is its session's, empty if a moderator has hidden the battle; `origin` is `router` if
    auto mode chose the pair, whose vote then counts on the board `auto` alone."""

    battle: str
    session: str
    title: str
    mode: Mode
    origin: Origin
    choice: Choice
    left: VotedModelPayload
    right: VotedModelPayload
    categories: list[str]
    language: str
    created_at: Moment


class SidePayload(TypedDict):
    """Model of a side."""

    side: SideName
    model: ModelPayload


class PublicPagePayload(TypedDict):
    """Public page of a battle; it shows the first `turn_count` turns. `listed`: it is in the gallery."""

    id: str
    url: str
    turn_count: int
    published_at: Moment
    listed: bool


class BattlePayload(TypedDict):
    """Models answering the same prompts. `sides` is null until the names are revealed: by the vote, or from the start
    in modes with chosen models. `stream_url` is null while no turn is live. In a battle that a moderator has `hidden`,
    texts are empty. `consent`: its prompts and answers may be published with its vote, until
    `consent_withdrawn_at`. `decision`: of the mode `auto`, otherwise null."""

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
    decision: BattleDecisionPayload | None
    created_at: Moment


class SharedFilePayload(TypedDict):
    """File attached to a prompt; its content is not published."""

    name: str
    kind: UploadKind


class SharedAnswerPayload(TypedDict):
    """Published answer of one side. Unknown values are null."""

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
    energy: EnergyPayload | None


class SharedTurnPayload(TypedDict):
    """Prompt with the published answer of each side. Models saw the turns from `context_from` on."""

    index: int
    prompt: str
    attachments: list[SharedFilePayload]
    after_vote: bool
    context_from: int
    answers: list[SharedAnswerPayload]


class SharedVotePayload(TypedDict):
    choice: Choice


class SharedBattlePayload(TypedDict):
    """Published battle. `title` is the beginning of its first prompt, `verdict` a sentence with the vote's result,
    `url` its page."""

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


class GalleryEntryPayload(TypedDict):
    """Published battle in the gallery: the beginning of its first prompt, its `models` in the order of the sides, and
    the labels of its vote, or of itself without one. `vote` is null in modes without votes, and before a vote on chosen
    models."""

    id: str
    url: str
    mode: Mode
    prompt: str
    models: list[VotedModelPayload]
    vote: Choice | None
    categories: list[str]
    language: str
    listed_at: Moment


class GalleryTombstonePayload(TypedDict):
    """Page that is no longer in the gallery. Copies of it should be deleted, too."""

    id: str
    listed_at: Moment
    withdrawn_at: Moment


class GalleryPagePayload(TypedDict):
    """Page of the gallery, the latest first. `withdrawn`: pages that stood among these; none with filters."""

    next: str | None
    results: list[GalleryEntryPayload]
    withdrawn: list[GalleryTombstonePayload]


class SharedTurnPage(SharedTurnPayload):
    is_live: Literal[False]


class SharedBattlePage(TypedDict):
    """Published battle for the templates of a person's own battles."""

    id: str
    mode: Mode
    state: Literal["voted", "open"]
    is_shared: Literal[True]
    turns: list[SharedTurnPage]
    vote: SharedVotePayload | None
    sides: list[SidePayload]
    created_at: Moment


class SharedSession(TypedDict):
    """Session with only the published battle, for sessions.export."""

    id: str
    title: str
    created_at: Moment
    battles: list[SharedBattlePage]


class ConsentPayload(TypedDict):
    """Text of the consent, in the language of `Accept-Language`, and its version; both empty if the arena publishes no
    prompts. `battles` is the number of your battles with consent."""

    text: str
    version: str
    battles: int


class ReportPayload(TypedDict):
    """Report on a battle. A person's first report stays."""

    battle: str
    reason: str
    created_at: Moment


class SessionHeadPayload(TypedDict):
    id: str
    title: str
    created_at: Moment
    last_active_at: Moment
    archived: bool
    team: NotRequired[str]
    shared: NotRequired[bool]


class SessionSummaryPayload(SessionHeadPayload):
    """Session in a list. `models`: at most four revealed names; `names_hidden`: other names wait for a vote. `team`,
    `shared`: the team's address, and whether its members can read the session; missing in personal ones."""

    battle_count: int
    models: list[str]
    names_hidden: bool


class SessionPayload(SessionHeadPayload):
    """Session with its battles, oldest first. `team` and `shared` are missing in a personal one."""

    battles: list[BattlePayload]


class MessagePayload(TypedDict):
    """Message in OpenAI's format, with the names of attached files."""

    role: Literal["user", "assistant"]
    content: str
    attachments: NotRequired[list[str]]


class ExportedAnswerPayload(TypedDict):
    """Times, tokens, cost and stars of one side's answer in the turn with this index. Unknown values are null, and all
    but `turn`, `state` and `stars` until the names are revealed."""

    turn: int
    state: AnswerState
    error: str | None
    finish: str | None
    first_token_ms: int | None
    total_ms: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost: str | None
    energy: EnergyPayload | None
    stars: int | None


class ExportedSidePayload(TypedDict):
    """Conversation of one side; `model` is null until the names are revealed."""

    side: SideName
    model: str | None
    messages: list[MessagePayload]
    answers: list[ExportedAnswerPayload]


class ExportedBattlePayload(TypedDict):
    """Battle as one conversation per side."""

    id: str
    mode: Mode
    state: str
    created_at: Moment
    vote: Choice | None
    sides: list[ExportedSidePayload]


class ExportedSessionPayload(TypedDict):
    """Session as a file."""

    id: str
    title: str
    created_at: Moment
    battles: list[ExportedBattlePayload]


class FeedbackTagPayload(TypedDict):
    """A tag that voters may give to either answer. `label`: in the request's language."""

    id: str
    label: str
    kind: Literal["good", "bad"]


class SuggestionPayload(TypedDict):
    prompt: str
