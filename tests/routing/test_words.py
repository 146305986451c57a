import pytest

from battles.auto.options import NO_CONTEXT, RoutingContext
from battles.auto.reasons import SENTENCES, reason_sentence
from battles.labels import Labels
from routing.deciding.query_types import query_type

CODE = Labels(("coding", "hard-prompt", "multi-turn"), "en")


@pytest.mark.parametrize(
    ("prompt", "labels", "context", "expected"),
    [
        ("Hello", Labels(), NO_CONTEXT, ("general-chat", 1.0)),
        ("Reverse a list", CODE, NO_CONTEXT, ("coding", 1.0)),
        ("Reverse a list", Labels(("coding", "maths", "own"), "en"), NO_CONTEXT, ("coding", 1 / 3)),
        ("Think", Labels(("hard-prompt", "multi-turn"), "en"), NO_CONTEXT, ("hard-prompt", 1.0)),
        ("Search the web for lighthouses", CODE, NO_CONTEXT, ("tool-use", 0.5)),
        ("Plot the average of my data per month", Labels(), NO_CONTEXT, ("data-analysis", 1.0)),
        ("Where is my data?", Labels(), NO_CONTEXT, ("general-chat", 1.0)),
        ("Search the web", CODE, RoutingContext(data_loaded=True), ("data-analysis", 1.0)),
        ("Hello", CODE, RoutingContext(tools=True, data_loaded=True), ("tool-use", 1.0)),
    ],
)
def test_query_type_is_the_first_that_applies(prompt, labels, context, expected):
    assert query_type([prompt], labels, context, needs_tools=False) == expected


@pytest.mark.parametrize(
    ("details", "end"),
    [
        ({"win_chance": 0.62}, "here."),
        ({"win_chance": 0.62, "price_share": 0.9}, "here."),
        ({"win_chance": 0.62, "price_share": 0.5}, "here, at half of the price of the best."),
        ({"win_chance": 0.62, "price_share": 0.11}, "here, at a ninth of the price of the best."),
        ({"win_chance": 0.62, "price_share": 0.031}, "here, at 3.1 % of the price of the best."),
        ({"win_chance": 0.62, "price_share": 0.0}, "here, and costs nothing."),
    ],
)
def test_sentence_has_chance_and_price(details, end):
    assert reason_sentence("best", details) == f"Chosen because it wins 62 % of such questions {end}"


def test_every_reason_has_a_sentence_without_gaps():
    assert not [code for code in SENTENCES if "%(" in reason_sentence(code, {})]
    assert reason_sentence("of another router", {}) == "Chosen by this arena's own router."
