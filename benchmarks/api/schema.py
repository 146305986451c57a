"""OpenAPI operations of benchmarks."""

from benchmarks import errors
from benchmarks.actions import importing
from benchmarks.api.imports import ImportViewSet
from benchmarks.api.judges import (
    ChangeJudgeSerializer,
    EstimatedJudgingSerializer,
    JudgementExport,
    JudgementViewSet,
    JudgeViewSet,
    NewCardSerializer,
    NewJudgeSerializer,
    NewJudgingSerializer,
)
from benchmarks.api.reports import HeatMap, RunExport, RunReportViewSet
from benchmarks.api.runs import Estimate, ItemViewSet, RunViewSet
from benchmarks.api.serializers import (
    ApplyImportSerializer,
    ChangeRunSerializer,
    ChangeTemplateSerializer,
    CopyTemplateSerializer,
    EstimatedRunSerializer,
    LeaveOutSerializer,
    NewCasesSerializer,
    NewGradeSerializer,
    NewImportFileSerializer,
    NewRunSerializer,
    NewTemplateSerializer,
    PublishSerializer,
)
from benchmarks.api.templates import TemplateExport, TemplateViewSet
from benchmarks.exports import responses
from benchmarks.exports.formats import CONTENT_TYPES, WRITERS
from benchmarks.imports.limits import MAX_FILE_BYTES
from benchmarks.models import Run, RunItem
from common.api.schema import LIMIT, TEXT, File, Operation, Operations, Parameter, one_of
from common.errors import NotFound, TooManyRequests
from common.tables import writers as table_writers
from uploads.errors import NoFile, QuotaReached

_SEARCH = Parameter("search", "Part of a name.", TEXT)
_WHOSE = Parameter("whose", "Your own, or those of the whole site; both without it.", one_of("own", "site"))
_TEAM = Parameter("team", "The address of a team: only its own; empty: personal ones.", TEXT)
_NUMBER = {"type": "integer", "minimum": 1}
_NUMBER_OR_ZERO = {"type": "integer", "minimum": 0}
_PROMPTS = [{"messages": [{"role": "user", "template": "What is the capital of {{ country }}?"}]}]
_CHECKS = [{"key": "names it", "scorer": "contains"}]
_TEMPLATE = {"name": "Capitals", "prompts": _PROMPTS, "checks": _CHECKS}
_RUN = {"template": "2jUQ7iGJ4w8cBCQAZ3kXhA", "models": ["ada", "bob"]}
_JUDGE = {
    "name": "Strict judge",
    "model": "ada",
    "rubric": {"kind": "pairwise", "instructions": "Prefer the right one."},
}
_JUDGING = {"judge": "2jUQ7iGJ4w8cBCQAZ3kXhA", "pairs": "all", "orders": "both"}
_CHOSEN_JUDGE = Parameter("judge", "Id of a judge: only its judgements.", TEXT)
_CONTENT = (
    "A prompt's messages and follow-ups (`turns`) are Jinja templates of a case's variables. A check compares an "
    "answer with its `target`, a template, too, or without one with the case's `expected`. `variables` is a JSON "
    "Schema that the cases obey; `parameters`, such as `temperature`, are sent with each prompt."
)

OPERATIONS: Operations = {
    (TemplateViewSet, "list"): Operation(
        summary="Templates",
        description="Your own, your teams' and the site's, those you ran last first, without archived ones.",
        parameters=(_SEARCH, _WHOSE, _TEAM),
        refuses=(NotFound,),
    ),
    (TemplateViewSet, "create"): Operation(
        summary="Make a template with a draft",
        description=_CONTENT,
        takes=NewTemplateSerializer,
        example=_TEMPLATE,
        refuses=(errors.ChecksRefused,),
    ),
    (TemplateViewSet, "retrieve"): Operation(
        summary="A template with its newest version", description="`cases/` has the cases. Drafts are their owner's."
    ),
    (TemplateViewSet, "update"): Operation(
        summary="Change a template and its draft",
        description="Contents that are not sent stay. A frozen version never changes: `POST versions/` makes a new "
        "draft. Archived templates are in no list.",
        takes=ChangeTemplateSerializer,
        example={**_TEMPLATE, "held_out": True},
        refuses=(errors.WrongState, errors.ChecksRefused),
    ),
    (TemplateViewSet, "destroy"): Operation(
        summary="Delete a template without runs",
        description="With all versions. A template with runs can only be archived.",
        refuses=(errors.TemplateInUse,),
    ),
    (TemplateViewSet, "cases"): Operation(
        summary="Cases of a version",
        description="In their order. 404 if they are held out and not yours.",
        parameters=(Parameter("version", "The version's number; the newest without it.", _NUMBER),),
    ),
    (TemplateViewSet, "add_cases"): Operation(
        summary="Add up to 1,000 cases to the draft",
        description="All or none. Without a `key` a case gets a number; `replace` deletes the draft's other cases. "
        "`files` are up to six of your uploads a case: text goes before the prompt, pictures beside it.",
        takes=NewCasesSerializer,
        example={"cases": [{"key": "fr", "variables": {"country": "France"}, "expected": ["Paris"]}]},
        refuses=(errors.WrongState, errors.CasesRefused, errors.ChecksRefused),
    ),
    (TemplateViewSet, "copy"): Operation(
        summary="Copy a version into a new template",
        description="Nothing moves between a person and a team: `team` names the place of the copy, whose draft has "
        "the version's contents and files. 404 if they are held out and not yours.",
        takes=CopyTemplateSerializer,
        example={"team": "physics"},
        refuses=(NotFound, QuotaReached),
    ),
    (TemplateViewSet, "freeze"): Operation(
        summary="Freeze the draft",
        description="A run freezes its version, too. It never changes from then on.",
        refuses=(errors.WrongState, errors.RunNotPossible),
    ),
    (TemplateViewSet, "versions"): Operation(
        summary="Versions of a template", description="The newest first; drafts are their owner's."
    ),
    (TemplateViewSet, "start_draft"): Operation(
        summary="Make a draft from the newest version", description="Returns the draft if there is one already."
    ),
    (Estimate, "post"): Operation(
        summary="Estimate a run's cost and time",
        description="Takes the body of a new run. `too_long` has the cases that do not fit into a model's context; "
        "they fail without a call. `minutes` is null before a model's first answer, `power` before the first run.",
        takes=EstimatedRunSerializer,
        example=_RUN,
        refuses=(NotFound, errors.RunNotPossible),
    ),
    (RunViewSet, "list"): Operation(
        summary="Runs",
        description="Your own, your teams' and published ones, the latest first.",
        parameters=(_SEARCH, _WHOSE, _TEAM, Parameter("state", "Runs in one state.", one_of(*Run.State.values))),
        refuses=(NotFound,),
    ),
    (RunViewSet, "create"): Operation(
        summary="Start a run",
        description="Each entrant, a model with one of the version's prompts, is asked each case `repeats` times. "
        "`models` is short for entrants with the first prompt. A run of paid models needs a `budget` in US dollars "
        "and never spends more. `reuse_days` gives answers of your own equal calls "
        "again, in a team those of the team's. With `start` false it waits for `start/` once it is prepared. "
        "A template of a team is run in the team; for one of the site, `team` names the place, whose models and money "
        "it uses.",
        takes=NewRunSerializer,
        example=_RUN,
        refuses=(NotFound, errors.RunNotPossible, errors.TooManyRuns, TooManyRequests),
    ),
    (RunViewSet, "retrieve"): Operation(
        summary="A run with its entrants", description="Follow its `stream_url` while it is live."
    ),
    (RunViewSet, "partial_update"): Operation(
        summary="Rename a run or raise its budget",
        description="A budget can only be raised. Resume a run afterwards that its budget paused.",
        takes=ChangeRunSerializer,
        example={"budget": "5"},
        refuses=(errors.RunNotPossible,),
    ),
    (RunViewSet, "start"): Operation(
        summary="Begin a prepared run",
        description="One that was made with `start` false.",
        refuses=(errors.WrongState,),
    ),
    (RunViewSet, "pause"): Operation(
        summary="Pause a run", description="Calls under way end and are stored.", refuses=(errors.WrongState,)
    ),
    (RunViewSet, "resume"): Operation(
        summary="Resume a paused run", description="Stored answers are not asked again.", refuses=(errors.WrongState,)
    ),
    (RunViewSet, "cancel"): Operation(
        summary="Cancel a run",
        description="Stops its calls within a second; answers stay.",
        refuses=(errors.WrongState,),
    ),
    (RunViewSet, "retry"): Operation(
        summary="Ask again what failed or was skipped",
        description="In the same run, within its budget.",
        refuses=(errors.WrongState, errors.RunNotPossible),
    ),
    (RunViewSet, "leave_out"): Operation(
        summary="Leave a model out of a run",
        description="Nothing more is asked of `entrant`, the id of one of the run's `entrants`: its answers stay, its "
        "other items end as `left_out`, and the run can finish. A run that had paused for it alone goes on.",
        takes=LeaveOutSerializer,
        example={"entrant": 12},
        refuses=(errors.WrongState,),
    ),
    (RunViewSet, "items"): Operation(
        summary="Items of a run",
        description="In a fixed order, without a count; `next` leads on.",
        parameters=(
            Parameter("entrant", "Id of one of the run's entrants.", {"type": "integer"}),
            Parameter("case", "A case's key.", TEXT),
            Parameter("state", "Items in one state.", one_of(*RunItem.State.values)),
            Parameter("tag", "A tag of the case.", TEXT),
            Parameter("search", "Part of a key, or of variables or replies that you may see.", TEXT),
            Parameter("cursor", "From `next`.", TEXT),
            LIMIT,
        ),
    ),
    (RunViewSet, "stream"): Operation(
        summary="Redirect to a live run's events; 404 once it has ended",
        description="The URL it redirects to needs neither token nor cookie and is valid for an hour. It sends "
        "server-sent events with an `id` and JSON in `data`: `progress {state, spent, reserved, entrants, items}`, "
        "absolute numbers by entrant and state, and items that ended as `[number, state, score, passed]`, the "
        "number being the end of the item's id; then `end {}`. There are no items while a review hides the answers.",
        status=307,
    ),
    (RunReportViewSet, "report"): Operation(
        summary="A run's report",
        description="Computed once when the run is finished, and after new scores. It never changes. `number=0`, and "
        "before there is one no number, is the report of the answers so far, of a run of yours that is under way.",
        parameters=(Parameter("number", "The report's number; the newest without it.", _NUMBER_OR_ZERO),),
    ),
    (RunReportViewSet, "compare"): Operation(
        summary="A run against another one of its template",
        description="On the cases that both have; the later run minus the earlier one.",
        parameters=(Parameter("with", "The other run's id.", TEXT, required=True),),
    ),
    (RunReportViewSet, "rescore"): Operation(
        summary="Score a finished run's answers again",
        description="By the checks and expected values of the template's newest version; a draft is frozen. No call is "
        "made; the run gets a new report.",
        refuses=(errors.WrongState, errors.RunNotPossible),
    ),
    (RunReportViewSet, "publish"): Operation(
        summary="Publish a run, or make it private again",
        description="`names`: everybody reads the run. `numbers`: everybody reads the report alone, without names and "
        "prompts. `none`: it is private. Owners and managers publish a team's runs, but none of the team's own models.",
        takes=PublishSerializer,
        example={"readers": "numbers"},
        refuses=(errors.WrongState, errors.ModelsOfTeam),
    ),
    (RunExport, "get"): Operation(
        summary="A run as a file",
        description="`jsonl`, `parquet` and `csv` have a row per item, `xlsx` sheets, `json` the whole run, `inspect` "
        "a log of inspect-ai, or a zip with one for each entrant. Others get no contents of a held-out template.",
        files=tuple(map(File, sorted(set(CONTENT_TYPES.values())))),
        parameters=(
            Parameter("ending", "Format.", one_of(*WRITERS), required=True, location="path"),
            Parameter("wide", "CSV with a row per case.", one_of("1", "true")),
        ),
        refuses=(errors.WrongState, errors.ExportTooLarge, TooManyRequests),
    ),
    (TemplateExport, "get"): Operation(
        summary="A template as YAML",
        description="The import restores all of it, but for files of cases. The first comment of a file for promptfoo "
        "names what promptfoo cannot express.",
        files=(File(responses.YAML),),
        parameters=(
            Parameter("version", "Number of a version; without it, the newest.", _NUMBER),
            Parameter("for", "Another program that reads it.", one_of("promptfoo")),
        ),
        refuses=(NotFound, TooManyRequests),
    ),
    (HeatMap, "get"): Operation(
        summary="Models by templates",
        description="Means of the newest finished runs that you may read: of a team, or personal and published ones.",
        parameters=(
            _TEAM,
            Parameter("template", "Id of a template; may be repeated.", TEXT),
            Parameter("average", "Add averages over the templates.", one_of("1")),
        ),
        refuses=(NotFound,),
    ),
    (ImportViewSet, "create"): Operation(
        summary="Look at a file of another tool",
        description=f"Multipart with `file`, at most {MAX_FILE_BYTES // 1_000_000} MB, and optional `format`, `sheet` "
        'and `mapping`: JSON with the roles of a table’s columns, such as `{"Antwort": "expected"}`. Nothing is '
        "stored but the look, which the next one replaces. `report` says what is taken, changed and left out, with "
        "lines.",
        takes=NewImportFileSerializer,
        refuses=(importing.ImportRefused, NoFile, errors.ImportTooLarge, TooManyRequests),
    ),
    (ImportViewSet, "apply"): Operation(
        summary="Store a file that was looked at",
        description="As a new template, or as the draft of `template`; `with_answers` stores its answers as a run.",
        takes=ApplyImportSerializer,
        example={"with_answers": True},
        refuses=(errors.WrongState,),
    ),
    (ItemViewSet, "grade"): Operation(
        summary="Grade an item by hand",
        description="`pass` with 0 or 1, or `stars` with 1 to 5. Your last grade counts; all are kept.",
        takes=NewGradeSerializer,
        example={"kind": "stars", "value": 4},
        refuses=(errors.WrongState,),
    ),
    (ItemViewSet, "retrieve"): Operation(
        summary="An item with all that is known about it",
        description="The messages sent, replies, the result of each check, and all calls, also failed ones. 404 if the "
        "template is held out and the run not yours.",
    ),
    (JudgeViewSet, "list"): Operation(
        summary="Judges",
        description="Your own and your teams', in their number in use; no archived ones.",
        parameters=(_TEAM,),
        refuses=(NotFound,),
    ),
    (JudgeViewSet, "create"): Operation(
        summary="Make a judge",
        description="A model with a rubric. `rubric` has `kind` (`pairwise` or `scores`), `instructions`, "
        "`uses_reference`, and `criteria` with `name`, `question`, `points` (2 to 10), `anchors` (a text for each "
        "point) and `weight`. `own_family`: answers of models of its own organization are left out (`exclude`), judged "
        "and marked (`flag`), or judged like others (`allow`).",
        takes=NewJudgeSerializer,
        example=_JUDGE,
        refuses=(NotFound, errors.RunNotPossible),
    ),
    (JudgeViewSet, "retrieve"): Operation(
        summary="A judge", description="Also an archived one, or a number that a newer one replaced."
    ),
    (JudgeViewSet, "update"): Operation(
        summary="Change a judge",
        description="Anything but its name makes a new judge with the next `number` and a new `id`: its judgements "
        "start anew, and the old ones stay with the old number.",
        takes=ChangeJudgeSerializer,
        example={**_JUDGE, "own_family": "flag"},
        refuses=(errors.WrongState, errors.RunNotPossible),
    ),
    (JudgeViewSet, "card"): Operation(
        summary="Ask a judge about control pairs",
        description="Up to 20 pairs made from the answers of `run`, in both orders: identical twins must tie, an "
        "answer cut in half must lose, one padded with its own sentences or with a verdict at its end must not win.",
        takes=NewCardSerializer,
        example={"run": "2jUQ7iGJ4w8cBCQAZ3kXhA"},
        refuses=(NotFound, errors.WrongState, errors.RunNotPossible, errors.TooManyRuns, TooManyRequests),
    ),
    (JudgementViewSet, "judgements"): Operation(
        summary="Judgements of a run, and what they say of its entrants",
        description="Of a run of yours or of your teams. In a fixed order, without a count; `next` leads on.",
        parameters=(
            _CHOSEN_JUDGE,
            Parameter("controls", "Control pairs in place of judgements.", one_of("1")),
            Parameter("style", "Boards at equal length and formatting, too.", one_of("1")),
            Parameter("cursor", "From `next`.", TEXT),
            LIMIT,
        ),
        refuses=(NotFound,),
    ),
    (JudgementViewSet, "judge"): Operation(
        summary="Have a judge judge a run's answers",
        description="A pairwise judge compares whole answers to the same case, repeat and prompt: `all` pairs, each "
        "against the `baseline`, or a `regular` design with `pairs_per_case`; in `both` orders, or in a `random` one "
        "for half of the price. Questions that this judge has answered are not asked again. Control pairs come first "
        "for a judge without a card, or by `card`. A paid judge needs a `budget`; if it ends half way, the results "
        "say so.",
        takes=NewJudgingSerializer,
        example=_JUDGING,
        refuses=(NotFound, errors.WrongState, errors.RunNotPossible, errors.TooManyRuns, TooManyRequests),
    ),
    (JudgementViewSet, "estimate"): Operation(
        summary="Estimate a judging's calls and cost",
        description="`left_out` counts pairs before their texts are read: answers that name themselves come on top.",
        takes=EstimatedJudgingSerializer,
        example=_JUDGING,
        refuses=(NotFound,),
    ),
    (JudgementExport, "get"): Operation(
        summary="Judgements of a run as a file",
        description="A row for each, also of those without a verdict.",
        files=tuple(map(File, sorted(set(table_writers.CONTENT_TYPES.values())))),
        parameters=(
            Parameter("ending", "Format.", one_of(*table_writers.WRITERS), required=True, location="path"),
            _CHOSEN_JUDGE,
        ),
        refuses=(NotFound, TooManyRequests),
    ),
}
