"""OpenAPI operations of sessions, battles and answers."""

from accounts.errors import NotInTeam
from battles import errors
from battles.api.gallery import Gallery
from battles.api.operator_texts import FeedbackTagViewSet, SuggestionViewSet
from battles.api.serializers import (
    CastVoteSerializer,
    ChangeSessionSerializer,
    FeedbackSerializer,
    PromptSerializer,
    ReportBattleSerializer,
    StarsSerializer,
    StartBattleSerializer,
    StartSessionSerializer,
)
from battles.api.shares import ShareViewSet
from battles.api.views import AnswerViewSet, BattleViewSet, SessionViewSet
from battles.api.votes import OwnVotes
from battles.gallery.filters import LOST, WON
from battles.models import Battle, Vote
from battles.payload_types import ExportedSessionPayload
from common.api.schema import TEXT, File, Operation, Operations, Parameter, one_of
from common.errors import NotFound, TooManyRequests
from site_content.errors import TermsNotAccepted
from uploads.errors import CannotBeRead, NotReadYet

_STARTING = (
    NotFound,
    TermsNotAccepted,
    NotReadYet,
    CannotBeRead,
    TooManyRequests,
    errors.ProofRequired,
    errors.PromptRefused,
    errors.NotExamined,
    errors.BudgetReached,
    errors.TooFewModels,
    errors.NoModelFits,
    errors.NoModelAvailable,
    errors.ModelsOverBudget,
)
_HOW_TO_START = (
    "`mode` defaults to `blind`: both models are drawn, and `filters` may narrow the draw. `side_by_side` takes two "
    "`models`, or one, and another is drawn; `compare` takes two to six, `direct` one. With `auto` the arena "
    "decides: a direct chat, or a blind battle if the question is worth one; `context`, `dial` and `max_cost` are "
    "those of `route/`, and the battle's `decision` has the reason. The battle's `stream_url` sends the answers. "
    "`attachments` are up to six uploads that are ready; with an image, only models that accept images "
    "are drawn. `consent` allows the battle's prompts and answers to be published with its vote; it is ignored if the "
    "arena publishes none. `proof` answers the `challenge` of a refusal with the code `proof_required`."
)
_EVENTS = (
    "The URL it redirects to needs neither token nor cookie and is valid for an hour. It sends server-sent events, "
    "each with an `id` and JSON in `data`: `text {side, text}` (append it), `block {side, html}` (replaces the open "
    "text with this HTML), `state {side, state}`, `reset {side}` (discard the side's text), `end {}` (the turn is "
    "stored: fetch the battle). After a lost connection `Last-Event-ID`, or `?after=` with that id, continues it."
)
_DAY = {"type": "string", "format": "date"}
_AS = Parameter("as", "The file's format.", {**one_of("json", "markdown"), "default": "json"})

OPERATIONS: Operations = {
    (SessionViewSet, "list"): Operation(
        summary="Your sessions, the latest first",
        description="Without archived ones. `sessions/{id}/` has a session's battles.",
        parameters=(
            Parameter("search", "Words of the title or of a prompt.", TEXT),
            Parameter("archived", "Archived sessions instead of the others.", {"type": "boolean", "default": False}),
            Parameter("upload", "The id of an upload: sessions with a prompt it is attached to.", TEXT),
            Parameter("team", "The address of a team: your sessions in it; empty: personal ones.", TEXT),
        ),
        refuses=(NotFound,),
    ),
    (SessionViewSet, "create"): Operation(
        summary="Start a session with its first battle",
        description=_HOW_TO_START,
        takes=StartSessionSerializer,
        example={"prompt": "Name three rivers."},
        refuses=_STARTING,
    ),
    (SessionViewSet, "retrieve"): Operation(
        summary="A session with its battles",
        description="The oldest first, each as `battles/{id}/` gives it.",
    ),
    (SessionViewSet, "partial_update"): Operation(
        summary="Rename, archive or share a session",
        description="Fields that are not sent stay unchanged. `archived` false restores it to the list. `shared` lets "
        "the members of the session's team read it, without battles that are still blind.",
        takes=ChangeSessionSerializer,
        example={"title": "About rivers"},
        refuses=(NotInTeam,),
    ),
    (SessionViewSet, "destroy"): Operation(
        summary="Delete a session",
        description="Hides it everywhere at once, with its published battles. For a minute `restore/` brings it back; "
        "then its texts are deleted for good, with its files that no other session uses. Votes stay, without the "
        "session and without you.",
        parameters=(
            Parameter(
                "for_good",
                "Delete at once and for good, also a session deleted within the last minute.",
                {"type": "boolean", "default": False},
            ),
        ),
    ),
    (SessionViewSet, "restore"): Operation(
        summary="Bring back a session that was just deleted",
        description="Within a minute after deletion, with all of its content. Has no effect on other sessions.",
        refuses=(errors.TooLateToRestore,),
    ),
    (SessionViewSet, "battles"): Operation(
        summary="Start another battle in a session",
        description=_HOW_TO_START,
        takes=StartBattleSerializer,
        example={"prompt": "Name three lakes."},
        refuses=_STARTING,
    ),
    (SessionViewSet, "consent"): Operation(
        summary="The text of the consent",
        description="The text that `consent` agrees to. Show it to the person before you send `consent`.",
    ),
    (SessionViewSet, "withdraw_consent"): Operation(
        summary="Withdraw every consent to publish prompts and answers",
        description="For all your battles so far. Later exports leave them out; battles and votes stay.",
    ),
    (SessionViewSet, "export"): Operation(
        summary="A session as a file",
        description="As JSON each side has its conversation in the messages of OpenAI's API; Markdown is for people. "
        "Before the vote neither has names.",
        files=(ExportedSessionPayload, File("text/markdown")),
        parameters=(_AS,),
    ),
    (BattleViewSet, "retrieve"): Operation(
        summary="A battle",
        description="While models answer, partial answers are only on its `stream_url`.",
    ),
    (BattleViewSet, "messages"): Operation(
        summary="Send a follow-up to every side",
        description="Each with its own conversation so far, before or after the vote. The answers come on the battle's "
        "`stream_url`.",
        takes=PromptSerializer,
        example={"prompt": "Which of them is the longest?"},
        refuses=(
            errors.StillAnswering,
            errors.BattleIsVoid,
            errors.BattleIsHidden,
            errors.TooManyTurns,
            errors.ImagesNotSeen,
            NotReadYet,
            CannotBeRead,
            TooManyRequests,
            errors.PromptRefused,
            errors.NotExamined,
            errors.BudgetReached,
            errors.ModelsOverBudget,
            NotInTeam,
        ),
    ),
    (BattleViewSet, "stream"): Operation(
        summary="Redirect to the live turn's events; 404 if no turn is live", description=_EVENTS, status=307
    ),
    (BattleViewSet, "stop"): Operation(
        summary="Stop the answers in progress",
        description="On every side; partial answers stay. A vote on a stopped answer is stored but not counted.",
        refuses=(errors.NothingToStop,),
    ),
    (BattleViewSet, "regenerate"): Operation(
        summary="Retry a failed follow-up",
        description="Once, if a side failed in the last turn. Failed sides answer again; others keep their answers.",
        refuses=(
            errors.StillAnswering,
            errors.BattleIsVoid,
            errors.BattleIsHidden,
            errors.AlreadyVoted,
            errors.NothingToRegenerate,
            errors.AlreadyRegenerated,
            TooManyRequests,
            errors.BudgetReached,
            errors.ModelsOverBudget,
            NotInTeam,
        ),
    ),
    (BattleViewSet, "vote"): Operation(
        summary="Vote; the response reveals the names",
        description="Once every side has answered (`can_vote`). A vote is final, and so are `answers` to a review’s "
        "`questions`, which come with it.",
        takes=CastVoteSerializer,
        example={"choice": "left"},
        refuses=(
            errors.AlreadyVoted,
            errors.StillAnswering,
            errors.BattleIsVoid,
            errors.BattleIsHidden,
            errors.TakesNoVote,
            TooManyRequests,
            NotInTeam,
        ),
    ),
    (BattleViewSet, "feedback"): Operation(
        summary="Add feedback to a vote: tags for either side, a comment",
        description="Replaces earlier feedback. `feedback-tags/` lists the tags.",
        takes=FeedbackSerializer,
        example={"tags": {"left": ["accurate", "clear"], "right": ["shallow"]}, "comment": "The right one guesses."},
        refuses=(errors.NotVotedYet, errors.UnknownTag),
    ),
    (FeedbackTagViewSet, "list"): Operation(
        summary="Tags for feedback",
        description="Those that the arena offers; votes may have others, which were retired later.",
    ),
    (SuggestionViewSet, "list"): Operation(
        summary="Prompts that the start page suggests",
        description="In the request's language.",
        parameters=(Parameter("team", "The address of a team: its own first.", TEXT),),
        refuses=(NotFound,),
    ),
    (BattleViewSet, "publish"): Operation(
        summary="Publish a battle: a page for anyone with the link",
        description="Once the names are revealed and no turn is live. Publish it again to add later turns, at the same "
        "URL.",
        refuses=(
            errors.NotVotedYet,
            errors.StillAnswering,
            errors.BattleIsVoid,
            errors.BattleIsHidden,
            errors.InATeam,
        ),
    ),
    (BattleViewSet, "withdraw"): Operation(
        summary="Unpublish a battle",
        description="Removes its page immediately; the link stops working for good.",
    ),
    (BattleViewSet, "gallery"): Operation(
        summary="List a published battle in the gallery",
        description="There it is found without its link, with the beginning of its first prompt, its models, its vote "
        "and its categories. 404 in an arena without a gallery.",
        refuses=(errors.NotPublished, errors.BattleIsHidden),
    ),
    (BattleViewSet, "unlist"): Operation(
        summary="Take a battle out of the gallery",
        description="Its page and link stay. For 30 days the gallery says that something was withdrawn.",
    ),
    (BattleViewSet, "consent"): Operation(
        summary="Withdraw the consent to publish a battle's prompts and answers",
        description="Later exports leave them out; the battle and its vote stay.",
    ),
    (BattleViewSet, "report"): Operation(
        summary="Report a battle to the moderators",
        description="One of your own, or a published one by the id of its page. A person's first report stays: a "
        "later one returns it with status 200.",
        takes=ReportBattleSerializer,
        example={"reason": "One of the answers insults people."},
        refuses=(TooManyRequests,),
    ),
    (ShareViewSet, "retrieve"): Operation(
        summary="A published battle",
        description="By the id in its `share` and in the URL of its page. Without later turns and feedback on the "
        "vote; 404 once it is unpublished, or 410 if it was in the gallery.",
        refuses=(errors.NoLongerPublished,),
    ),
    (ShareViewSet, "export"): Operation(
        summary="A published battle as a file",
        description="In the formats of a session's export: JSON with the messages of OpenAI's API, or Markdown.",
        files=(ExportedSessionPayload, File("text/markdown")),
        parameters=(_AS,),
        refuses=(errors.NoLongerPublished,),
    ),
    (Gallery, "get"): Operation(
        summary="The gallery: published battles whose owners list them, the latest first",
        description="`shares/{id}/` has the battle of an entry. 404 in an arena without a gallery.",
        parameters=(
            Parameter("model", "The id of a model: battles with it.", TEXT),
            Parameter("vote", "The vote; `won` and `lost` are about `model`.", one_of(*Vote.Choice.values, WON, LOST)),
            Parameter("category", "A category of the battle.", TEXT),
            Parameter("language", "A language, as the code of its board.", TEXT),
            Parameter("cursor", "From `next`.", TEXT),
        ),
        refuses=(NotFound,),
    ),
    (AnswerViewSet, "rating"): Operation(
        summary="Give an answer of a comparison one to five stars",
        description="The id is the answer's. A later rating replaces an earlier one.",
        takes=StarsSerializer,
        example={"stars": 4},
        refuses=(errors.TakesNoStars, errors.StillAnswering, TooManyRequests),
    ),
    (OwnVotes, "get"): Operation(
        summary="Your votes, the latest first",
        description="`sessions/{id}/` has the battles they are about.",
        parameters=(
            Parameter("model", "The id of a model: votes on it.", TEXT),
            Parameter("against", "The id of another model, in the same votes.", TEXT),
            Parameter("choice", "Votes of one kind.", one_of(*Vote.Choice.values)),
            Parameter("mode", "Votes in one mode.", one_of(*Battle.VOTED_MODES)),
            Parameter("category", "Votes of one category.", TEXT),
            Parameter("language", "Votes of one language.", TEXT),
            Parameter("counted", "Votes that count, or those that do not.", one_of("true", "false")),
            Parameter("since", "The first day, in UTC.", _DAY),
            Parameter("until", "The last day, in UTC.", _DAY),
        ),
    ),
}
