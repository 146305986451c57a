import pytest
from django.template import Context, Template

from battles.auto.options import AUTO
from battles.mode_words import MODE_WORDS
from battles.models import Battle

PAGE = Template(
    "{% load battles %}{% with words=mode|mode_words %}{{ words.start }}{% endwith %}"
    "|{% answer_label mode side %}|{% the_answer mode side %}"
)


def test_every_mode_has_words():
    assert set(MODE_WORDS) == {*Battle.Mode, AUTO}


def test_voted_modes_say_what_a_vote_does():
    assert {mode for mode, words in MODE_WORDS.items() if words.vote} == set(Battle.VOTED_MODES)


@pytest.mark.parametrize(
    ("mode", "side", "text"),
    [
        ("blind", "left", "Start the battle|Answer A|answer A"),
        ("side_by_side", "right", "Start the battle|Answer B|answer B"),
        ("compare", "3", "Compare|Answer 3|answer 3"),
        ("direct", "left", "Send|Answer|this answer"),
    ],
)
def test_answers_are_named_by_mode_and_side(mode: str, side: str, text: str):
    assert PAGE.render(Context({"mode": mode, "side": side})) == text
