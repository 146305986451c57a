from common.api.schema import TEXT, File, Operation, Operations, Parameter, one_of
from common.errors import NotAllowed, NotFound
from metrics.api import views
from metrics.catalogue import BY_NAME, Bucket
from metrics.statistics.figures import FIGURES
from metrics.statistics.views import Statistics

_TEAM = Parameter("team", "Address of a team of which you are an owner.", TEXT)
_DAY = {"type": "string", "format": "date"}
_BUCKET = {**one_of(*Bucket), "default": "day"}

OPERATIONS: Operations = {
    (views.Metrics, "get"): Operation(
        summary="One figure over time",
        description="For operators of the arena, and for owners of a team about their team. Days are UTC. Figures of "
        "calls and win rates are one to two hours late; those by model are for operators. At most 400 points of 50 "
        "series.",
        files=(File("text/csv"),),
        parameters=(
            Parameter("metric", "See `catalogue/`.", one_of(*BY_NAME), required=True),
            Parameter("from", "The first day; default: four weeks before the last.", _DAY),
            Parameter("to", "The last day; default: today.", _DAY),
            Parameter("bucket", "The time of a point.", {**one_of(*Bucket), "default": "day"}),
            Parameter(
                "by",
                "A series for each value of a dimension of the metric; `team` for operators, of the whole arena.",
                TEXT,
            ),
            Parameter("mode", "Of these modes, separated by commas.", TEXT),
            Parameter("language", "Of these languages, separated by commas.", TEXT),
            Parameter("model", "Of these models, separated by commas.", TEXT),
            _TEAM,
            Parameter("as", "The answer's format.", {**one_of(*views.FORMATS), "default": "json"}),
        ),
        refuses=(NotAllowed, NotFound),
    ),
    (Statistics, "get"): Operation(
        summary="Public statistics: battles, people and votes over time",
        description="404 unless the arena publishes them. Without teams and reviews, none by model, and nothing about "
        "fewer than five persons. Whole buckets, from that of the first day to that of the last.",
        files=(File("text/csv"),),
        parameters=(
            Parameter("figure", "One figure alone.", one_of(*(figure.name for figure in FIGURES))),
            Parameter("from", "The first day; default: four weeks before the last.", _DAY),
            Parameter("to", "The last day; default: today.", _DAY),
            Parameter("bucket", "The time of a point; the least is a week by language and category.", _BUCKET),
            Parameter("as", "The answer's format.", {**one_of(*views.FORMATS), "default": "json"}),
        ),
        refuses=(NotFound,),
    ),
    (views.Catalogue, "get"): Operation(
        summary="The figures that exist",
        description="With units, definitions, dimensions and buckets.",
        parameters=(_TEAM,),
        refuses=(NotAllowed, NotFound),
    ),
}
