from battles import interactions
from battles.errors import NotVotedYet
from common.api.schema import TEXT, File, Operation, Operations, Parameter, one_of
from common.errors import NotFound, TooManyRequests
from common.tables.writers import CONTENT_TYPES, WRITERS
from leaderboard.api import views
from leaderboard.boards.columns import SORTS
from leaderboard.boards.standings import ORDERS
from leaderboard.exports.api import INTERACTION_ENDINGS, InteractionExport, StarExport, VoteExport
from leaderboard.releases.api import ReleaseDownload, ReleaseList

_BOARD = Parameter(
    "board",
    "`overall`, `side-by-side`, `auto`, `compare`, `category:…`, `language:…` or `imported:…`: see `boards/`.",
    {**TEXT, "default": "overall"},
)
_BOARD_OR_OWN = Parameter(
    "board",
    f"{_BOARD.description} Or `mine`: what your own votes say, beside everyone else's; with `team`, `taste`: what your "
    "team's say. Other parameters than `as` change nothing there.",
    _BOARD.schema,
)
_TEAM = Parameter("team", "Address of a team of yours: its boards, snapshots and votes.", TEXT)
_ENDING = Parameter("ending", "The file's format.", one_of(*WRITERS), required=True, location="path")
_FILES = tuple(File(media_type) for media_type in dict.fromkeys(CONTENT_TYPES.values()))
_A_MODEL = {"type": "string", "minLength": 1}

OPERATIONS: Operations = {
    (views.BoardList, "get"): Operation(
        summary="Boards that exist",
        description="Overall, side by side, auto mode, stars; one for each category and language; imported ones.",
        parameters=(_TEAM,),
        refuses=(NotFound,),
    ),
    (views.Leaderboard, "get"): Operation(
        summary="The newest snapshot of a board",
        description="`next_due_at` says when to look for a newer one. As CSV, its `results` alone.",
        files=(File("text/csv"),),
        parameters=(
            _BOARD_OR_OWN,
            _TEAM,
            Parameter("category", "Short for `board=category:…`.", TEXT),
            Parameter("language", "Short for `board=language:…`.", TEXT),
            Parameter("style_control", "Scores with style taken out.", {"type": "boolean", "default": False}),
            Parameter("sort_by", "What is not known comes last.", {**one_of(*SORTS), "default": "score"}),
            Parameter("order", "Up or down.", {**one_of(*ORDERS), "default": "desc"}),
            Parameter("search", "Part of a name, an organization or an id.", TEXT),
            Parameter("organization", "Of this organization alone.", TEXT),
            Parameter("license", "A licence, or `open`, `proprietary` or `unknown`.", TEXT),
            Parameter("as", "The answer's format.", {**one_of(*views.FORMATS), "default": "json"}),
        ),
        refuses=(NotFound,),
    ),
    (views.ModelStandings, "get"): Operation(
        summary="One model on every board",
        description="With its opponents, how its last calls went, and the tags people gave its answers.",
        parameters=(_TEAM,),
    ),
    (views.BattlePlaces, "get"): Operation(
        summary="Where the models of a battle stand, and what its vote moved",
        description="Of a battle of yours with a vote. Places and Elo are those of now, on Overall; `elo_change` is "
        "what this vote moved, known until another one moves either model.",
        refuses=(NotVotedYet,),
    ),
    (views.History, "get"): Operation(
        summary="How models moved on a board in the last 90 days",
        description="A point for each snapshot in which a model had a score, the oldest first.",
        parameters=(_BOARD, _TEAM, Parameter("models", "Up to 50 ids, separated by commas.", _A_MODEL, required=True)),
    ),
    (views.HeadToHead, "get"): Operation(
        summary="Two models compared",
        description="How often they met and who took what, what their scores lead one to expect, and how many more "
        "votes would tell them apart.",
        parameters=(*(Parameter(name, "A model's id.", _A_MODEL, required=True) for name in ("a", "b")), _TEAM),
        refuses=(NotFound,),
    ),
    (views.Matrix, "get"): Operation(
        summary="How often each pair of a board met, and how it ended",
        description="Pairs that never met are left out.",
        parameters=(_BOARD, _TEAM),
        refuses=(NotFound,),
    ),
    (views.SnapshotList, "get"): Operation(
        summary="Every snapshot published, the newest first",
        description="Which votes each counted, and how; its lines come with `leaderboard/snapshots/{id}/`.",
        parameters=(Parameter("board", "Of this board alone.", TEXT), _TEAM),
        refuses=(NotFound,),
    ),
    (views.SnapshotDetail, "get"): Operation(
        summary="One snapshot as it was published",
        description="Nothing in it changes later. The votes behind it: `exports/votes.jsonl?snapshot=` and its id.",
        parameters=(_TEAM,),
    ),
    (VoteExport, "get"): Operation(
        summary="Votes under pseudonyms, as a file",
        description="Public where the operator publishes votes; otherwise a member's token with the scope `export` "
        "reads them. Either a snapshot's votes, or those since some time, or all as they stand now.",
        files=_FILES,
        parameters=(
            _ENDING,
            _TEAM,
            Parameter("snapshot", "A snapshot's id.", TEXT),
            Parameter("since", "A time, or the number of the last vote you have.", TEXT),
            Parameter(
                "prompts",
                "Also `consent` and `turns`, what was asked and answered, of votes that count and whose voters agreed.",
                {"type": "boolean", "default": False},
            ),
        ),
        refuses=(TooManyRequests,),
    ),
    (StarExport, "get"): Operation(
        summary="Stars under pseudonyms, as a file",
        description="Every rating that was ever given where many models are compared; `latest` says which ones count. "
        "Public where the operator publishes votes; otherwise a member's token with the scope `export` reads them.",
        files=_FILES,
        parameters=(
            _ENDING,
            _TEAM,
            Parameter("snapshot", "The id of a snapshot of the board `compare`.", TEXT),
            Parameter("since", "A time, or the number of the last stars you have.", TEXT),
        ),
        refuses=(TooManyRequests,),
    ),
    (ReleaseList, "get"): Operation(
        summary="Dated releases of the data, the newest first",
        description="Files of a release never change; conversations are removed when a later release replaces them. "
        "Access as to exports.",
    ),
    (ReleaseDownload, "get"): Operation(
        summary="A file of a release",
        description="`SHA256SUMS` has the checksums of the others. In `conversations.…` a line with `withdrawn` is a "
        "tombstone: its text was in an earlier release and must not be used any more.",
        files=(*_FILES, File("application/octet-stream")),
    ),
    (InteractionExport, "get"): Operation(
        summary="The interaction log, as a file",
        description="Every request to a model: times, tokens, cost, prompt, answer, stars, vote, finish and error, in "
        "the order of time, with probes and failed attempts. It names persons and has everybody's texts: a token of "
        "staff that may view calls reads it, and every download is in the audit log. Blind battles of the token's "
        "owner are left out until their vote.",
        files=tuple(File(CONTENT_TYPES[ending]) for ending in INTERACTION_ENDINGS),
        parameters=(
            Parameter("ending", "The file's format.", one_of(*INTERACTION_ENDINGS), required=True, location="path"),
            Parameter("since", "From this day or time on.", TEXT),
            Parameter("until", "Before this time, or to the end of this day.", TEXT),
            Parameter("model", "A model's id.", TEXT),
            Parameter("mode", "Without a battle, the purpose of the call.", one_of(*interactions.MODES)),
            Parameter("person", "The owner of the session: an e-mail address, `user:12` or `visitor:34`.", TEXT),
            Parameter("error", "A code of failures, or `any`.", one_of(*interactions.ERRORS)),
        ),
        refuses=(TooManyRequests,),
    ),
}
