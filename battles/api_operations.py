"""Sessions, battles and answers, as OpenAPI describes them."""

from battles import errors
from battles.api import AnswerViewSet, BattleViewSet, SessionViewSet
from battles.api_shapes import Battle, ExportedSession, PublicPage, Report, Session, SessionSummary
from battles.serializers import (
    CastVoteSerializer,
    ChangeSessionSerializer,
    FeedbackSerializer,
    PromptSerializer,
    ReportSerializer,
    StarsSerializer,
    StartBattleSerializer,
)
from common.api_operations import TEXT, File, Operation, Operations, Parameter, one_of
from common.errors import TooManyRequests
from uploads.errors import CannotBeRead, NotReadYet

_STARTING = (
    NotReadYet,
    CannotBeRead,
    TooManyRequests,
    errors.ProofRequired,
    errors.PromptRefused,
    errors.NotExamined,
    errors.BudgetReached,
    errors.TooFewModels,
    errors.ModelsOverBudget,
)
_HOW_TO_START = (
    "`mode` is `blind` unless said otherwise: both models are drawn, and `filters` may narrow the draw. `side_by_side` "
    "takes two `models`, or one to which another is drawn, `compare` two to six, `direct` one. The answers come on the "
    "battle's `stream_url`. `attachments` are up to six uploads that have been read; with a picture, only models that "
    "see are drawn. `consent` says that the battle's prompts and answers may be published with its vote; it is passed "
    "over where the arena publishes none. `proof` answers the `challenge` of a refusal with the code `proof_required`."
)
_EVENTS = (
    "The address it leads to needs neither token nor cookie and is good for an hour. It sends server-sent events, each "
    "with an `id` and JSON in `data`: `text {side, text}` (append it), `block {side, html}` (what was open has become "
    "this HTML), `state {side, state}`, `reset {side}` (forget what the side said), `end {}` (the turn is stored: "
    "fetch the battle). After a lost connection `Last-Event-ID`, or `?after=` with that id, continues it."
)

OPERATIONS: Operations = {
    (SessionViewSet, "list"): Operation(
        summary="Your sessions, the latest first",
        gives=SessionSummary,
        is_list=True,
        parameters=(
            Parameter("search", "Words of the title or of a prompt.", TEXT),
            Parameter("archived", "Those put away instead of the others.", {"type": "boolean", "default": False}),
        ),
    ),
    (SessionViewSet, "create"): Operation(
        summary="Start a session with its first battle",
        description=_HOW_TO_START,
        takes=StartBattleSerializer,
        gives=Session,
        status=201,
        refuses=_STARTING,
    ),
    (SessionViewSet, "retrieve"): Operation(summary="A session with its battles", gives=Session),
    (SessionViewSet, "partial_update"): Operation(
        summary="Rename a session, or put it away", takes=ChangeSessionSerializer, gives=Session
    ),
    (SessionViewSet, "destroy"): Operation(
        summary="Delete a session",
        description="What was said in it is gone for good. Votes that count stay, without it and without you.",
        status=204,
    ),
    (SessionViewSet, "battles"): Operation(
        summary="Start another battle in a session",
        description=_HOW_TO_START,
        takes=StartBattleSerializer,
        gives=Battle,
        status=201,
        refuses=_STARTING,
    ),
    (SessionViewSet, "consent"): Operation(
        summary="Withdraw every consent to publish prompts and answers",
        description="That of all your battles so far. Exports that begin later leave them out; battles and votes stay.",
        status=204,
    ),
    (SessionViewSet, "export"): Operation(
        summary="A session as a file",
        gives=(ExportedSession, File("text/markdown")),
        parameters=(Parameter("as", "The file's format.", {**one_of("json", "markdown"), "default": "json"}),),
    ),
    (BattleViewSet, "retrieve"): Operation(summary="A battle", gives=Battle),
    (BattleViewSet, "messages"): Operation(
        summary="Ask every side a follow-up",
        takes=PromptSerializer,
        gives=Battle,
        status=201,
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
        ),
    ),
    (BattleViewSet, "stream"): Operation(
        summary="Leads to the live turn's events; 404 when nothing is being answered", description=_EVENTS, status=307
    ),
    (BattleViewSet, "stop"): Operation(
        summary="Stop what is being answered", gives=Battle, refuses=(errors.NothingToStop,)
    ),
    (BattleViewSet, "regenerate"): Operation(
        summary="Ask a failed follow-up again",
        gives=Battle,
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
        ),
    ),
    (BattleViewSet, "vote"): Operation(
        summary="Vote; the names come with the answer",
        description="A vote is final.",
        takes=CastVoteSerializer,
        gives=Battle,
        status=201,
        refuses=(
            errors.AlreadyVoted,
            errors.StillAnswering,
            errors.BattleIsVoid,
            errors.BattleIsHidden,
            errors.TakesNoVote,
            TooManyRequests,
        ),
    ),
    (BattleViewSet, "feedback"): Operation(
        summary="Say more about a vote: tags for either side, a comment",
        description="What is sent again replaces what was sent before.",
        takes=FeedbackSerializer,
        gives=Battle,
        refuses=(errors.NotVotedYet,),
    ),
    (BattleViewSet, "publish"): Operation(
        summary="Publish a battle: a page for whoever has its address",
        description="Once the names are known, and nothing is being answered. What is said later is on it when it is "
        "published again, at the same address.",
        gives=PublicPage,
        refuses=(errors.NotVotedYet, errors.StillAnswering, errors.BattleIsVoid, errors.BattleIsHidden),
    ),
    (BattleViewSet, "withdraw"): Operation(
        summary="Withdraw a published battle",
        description="Its page is gone at once, and that address never comes back.",
        status=204,
    ),
    (BattleViewSet, "consent"): Operation(
        summary="Withdraw the consent to publish a battle's prompts and answers",
        description="Exports that begin later leave them out; the battle and its vote stay as they are.",
        status=204,
    ),
    (BattleViewSet, "report"): Operation(
        summary="Report a battle to the moderators",
        description="One of your own, or a published one by the id of its page. The first report of a person stands: "
        "sent again, it is given back with status 200.",
        takes=ReportSerializer,
        gives=Report,
        also=(200,),
        status=201,
        refuses=(TooManyRequests,),
    ),
    (AnswerViewSet, "rating"): Operation(
        summary="Give an answer one to five stars, where many are compared",
        description="The latest counts.",
        takes=StarsSerializer,
        gives=Battle,
        refuses=(errors.TakesNoStars, errors.StillAnswering, TooManyRequests),
    ),
}
