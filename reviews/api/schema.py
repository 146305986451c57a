"""OpenAPI operations of reviews and decision reports."""

from benchmarks.errors import RunNotPossible, TooManyRuns
from common.api.schema import TEXT, File, Operation, Operations, Parameter, one_of
from common.errors import NotAllowed, NotFound, TooManyRequests
from common.tables import writers
from reviews import errors
from reviews.api.judged_board import JudgedBattleExport, JudgedBoards
from reviews.api.people import ReviewPeople
from reviews.api.reports import ReportFile, ReportViewSet
from reviews.api.reviews import JoinReview, NextBattle, OpinionExport, ReviewGrades, ReviewViewSet, SecondOpinion
from reviews.api.serializers import (
    JoinSerializer,
    NewReportSerializer,
    NewReviewGradeSerializer,
    NewReviewSerializer,
    ReadersSerializer,
    ReviewTermsSerializer,
    SetAsideSerializer,
)
from reviews.reports import errors as report_errors
from reviews.reports.files import CONTENT_TYPES
from reviews.reports.payload_types import ReportFilePayload

_TERMS = {"title": "Which capital?", "instructions": "Prefer short answers.", "opinions_per_item": 3}

OPERATIONS: Operations = {
    (JudgedBoards, "get"): Operation(
        summary="Judges beside boards",
        description="A judge that the administrators chose reads a random part of the voted battles: one beside "
        "Overall, or none. Its scores are on no board.",
    ),
    (JudgedBattleExport, "get"): Operation(
        summary="Verdicts of judges of voted battles, as a file",
        description="A row for each battle that counts and was read in both orders, without texts: the share of its "
        "draw, the vote, and the outcome seen from the left, 1, 0.5 or 0. Access as to exports of votes.",
        files=tuple(map(File, sorted(set(writers.CONTENT_TYPES.values())))),
        parameters=(Parameter("ending", "Format.", one_of(*writers.WRITERS), required=True, location="path"),),
        refuses=(NotFound, TooManyRequests),
    ),
    (ReviewViewSet, "list"): Operation(
        summary="Reviews",
        description="Your own, your teams', and open and closed ones that ask you, the newest first.",
    ),
    (ReviewViewSet, "create"): Operation(
        summary="Make a review of a run, or of own prompts",
        description="People compare the run's stored answers two by two, without names; no model is called. A draft "
        "takes votes after `open/`, or at once with `open`. Pairs are whole answers to the same prompt, none of which "
        "names its model. A review of a team's run asks the owner or the team. With `stop_share` and `contrasts` it "
        "ends as soon as its stop rule has decided about each pair of models. With `prompts` and `models` in place of "
        "`run`, each model answers each prompt once first, in a new run with `budget`; with `open`, the review opens "
        "when that run is done.",
        takes=NewReviewSerializer,
        example={"run": "2jUQ7iGJ4w8cBCQAZ3kXhA", **_TERMS},
        refuses=(NotFound, NotAllowed, errors.ReviewState, errors.NothingToReview, RunNotPossible, TooManyRuns),
    ),
    (ReviewViewSet, "retrieve"): Operation(
        summary="A review",
        description="`run` is for those who own or see it, null for others. `left_out` has numbers of pairs by reason.",
    ),
    (ReviewViewSet, "partial_update"): Operation(
        summary="Change a review's terms",
        description="Of an open review, only the title and the deadline change.",
        takes=ReviewTermsSerializer,
        example=_TERMS,
        refuses=(NotAllowed, errors.ReviewState),
    ),
    (ReviewViewSet, "open"): Operation(
        summary="Open a draft",
        description="From then on, the run's answers are hidden from everybody but the owner until the close.",
        refuses=(NotAllowed, errors.ReviewState, errors.NothingToReview),
    ),
    (ReviewViewSet, "close"): Operation(
        summary="Close a review early",
        description="It takes no more votes, and its results are published.",
        refuses=(NotAllowed, errors.ReviewState),
    ),
    (ReviewViewSet, "withdraw"): Operation(
        summary="End a review without results",
        description="The votes stay in the log, and count nowhere.",
        refuses=(NotAllowed, errors.ReviewState),
    ),
    (ReviewViewSet, "progress"): Operation(
        summary="Progress of a review",
        description="For those who manage it. It tells no winner: pairs decided by the stop rule may be equal.",
        refuses=(NotAllowed,),
    ),
    (ReviewViewSet, "results"): Operation(
        summary="Results of a review",
        description="After the close, unless the review shows them before; 409 until then, also for the owner.",
        refuses=(errors.ResultsHidden,),
    ),
    (ReviewViewSet, "agreement"): Operation(
        summary="Agreement of people, judges and checks",
        description="How often people name the same winner as each other, as each judge of the run, and as the checks; "
        "and the judges' boards, corrected by people. 409 while the results are hidden.",
        refuses=(errors.ResultsHidden,),
    ),
    (OpinionExport, "get"): Operation(
        summary="Opinions of a review as a file",
        description="For those who manage it, and the team's members: a row for each vote of people, under pseudonyms "
        "of this review, and for each verdict of a judge on the same pairs, seen from the entrant that comes first in "
        "the run. `answer` is first, second, tie or both_bad; `value` is 1, 0 or 0.5, and a judge's grade where there "
        "is no second answer. 409 while the results are hidden.",
        files=tuple(map(File, sorted(set(writers.CONTENT_TYPES.values())))),
        parameters=(
            Parameter("public_id", "The review’s id.", TEXT, required=True, location="path"),
            Parameter("ending", "Format.", one_of(*writers.WRITERS), required=True, location="path"),
        ),
        refuses=(NotFound, errors.ResultsHidden, TooManyRequests),
    ),
    (ReviewPeople, "list"): Operation(
        summary="People of a review",
        description="For those who manage it: each person's votes, how steady and how careful they are, and the number "
        "of their network. It tells nothing of the models.",
        refuses=(NotAllowed,),
    ),
    (ReviewPeople, "aside"): Operation(
        summary="Set a person aside",
        description="Their votes, also later ones, count nowhere until you take them back; the reason and the figures "
        "at this moment are kept.",
        takes=SetAsideSerializer,
        example={"because": "always the left side"},
        refuses=(NotAllowed, errors.ReviewState),
    ),
    (ReviewPeople, "back"): Operation(
        summary="Take a person back",
        description="The votes that were left out because the person was set aside count again.",
        refuses=(NotAllowed, errors.ReviewState),
    ),
    (NextBattle, "create"): Operation(
        summary="The next battle of a review, or answer to grade",
        description="The battle that waits for your vote, or a new one; 204 if nothing is left for you now. Vote with "
        "`POST battles/{id}/vote/`. It is kept for you for 15 minutes, and you can vote later, too. A review whose "
        "`asks_for` is `pass` or `stars` gives a single answer instead, which `POST reviews/{id}/grades/` grades.",
        refuses=(NotAllowed, errors.ReviewTakesNoVotes, errors.PersonSetAside, TooManyRequests),
    ),
    (ReviewGrades, "create"): Operation(
        summary="Grade an answer of a review",
        description="`answer` as `next/` gave it to you, and one of its `values`. A grade is final.",
        takes=NewReviewGradeSerializer,
        example={"answer": 1, "value": 1},
        refuses=(NotAllowed, errors.ReviewTakesNoVotes, errors.AlreadyGraded, errors.NoSuchGrade),
    ),
    (JoinReview, "create"): Operation(
        summary="Join a review by a code",
        description="The code of its link, or a personal code, which works once. A visitor's cookie keeps the place. "
        "Wrong codes are limited by network. To join again changes nothing.",
        takes=JoinSerializer,
        example={"code": "BCDF-GHKM", "nickname": "Ada"},
        refuses=(errors.NoSuchCode, errors.PersonalCodeUsed, errors.ReviewFull, TooManyRequests),
    ),
    (SecondOpinion, "create"): Operation(
        summary="Ask others about a battle",
        description="A review of your voted blind battle: up to 50 people with the address `/review/{id}/` vote on the "
        "same answers without names, and read the prompt and its files. The battle's review if it has one. After "
        "their vote they see the results with names, as you do. It changes no other board; `withdraw/` ends it.",
        refuses=(NotFound, errors.CannotAskOthers),
    ),
    (ReportViewSet, "list"): Operation(
        summary="Decision reports", description="Your own and your teams’, newest first; published ones have addresses."
    ),
    (ReportViewSet, "create"): Operation(
        summary="Make a decision report",
        description="Of the newest report of an ended `run` of yours, a closed `review` of it, or the newest snapshot "
        "of a `board`. It is stored with the numbers that it is computed from, in their place, and never changes.",
        takes=NewReportSerializer,
        example={"question": "Which model answers our questions best?", "board": "overall"},
        refuses=(NotFound, report_errors.NothingToReport),
    ),
    (ReportViewSet, "retrieve"): Operation(summary="A decision report", description="Its files have its contents."),
    (ReportViewSet, "destroy"): Operation(summary="Delete a decision report", description="Also a published one."),
    (ReportViewSet, "publish"): Operation(
        summary="Choose who may read a decision report",
        description="All with `names`, or with `numbers` in place of names; `none` makes it private again.",
        takes=ReadersSerializer,
        example={"readers": "numbers"},
        refuses=(report_errors.ModelsOfTeam,),
    ),
    (ReportFile, "get"): Operation(
        summary="A decision report as a file",
        description="`json` has all figures, what they follow from, and the checksum; `html` is a page to print. "
        "`manage.py recompute_report` compares every number of the JSON.",
        files=(ReportFilePayload, File(CONTENT_TYPES["html"])),
        parameters=(
            Parameter("public_id", "The report’s id.", TEXT, required=True, location="path"),
            Parameter("ending", "Format.", one_of(*CONTENT_TYPES), required=True, location="path"),
        ),
        refuses=(NotFound,),
    ),
}
