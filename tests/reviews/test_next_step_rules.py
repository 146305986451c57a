from dataclasses import replace

import pytest

from reviews.next_steps.rules import (
    Candidate,
    Contrast,
    Dominated,
    Facts,
    NearTemplate,
    TagDifference,
    dominated_contestants,
    near_template,
    nearest_contrast,
    open_tag,
    suggest,
)

NEAR, FAR = (Contrast("Ada", other, more, "cases", "r1", so_far=100) for other, more in (("Bob", 40), ("Cyd", 900)))
TAG = TagDifference("europe", "Ada", "Bob", difference=0.5, cases=2, source="r1", template="t1", cost_per_case=0.25)
ARITHMETIC = Candidate("t1", "Sums", 16, {"several steps": 10, "algebra": 4})
CAPITALS = Candidate("t2", "Capitals", 8, {"europe": 2})
NAMES = {"maths": "Maths", "coding": "Coding", "operas": "Questions on operas"}


def test_no_facts_suggest_nothing():
    assert suggest(Facts()) == []


def test_nearest_contrast_needs_the_fewest():
    assert nearest_contrast(Facts(contrasts=[FAR, NEAR])) == NEAR


def test_contrast_out_of_reach_is_not_named():
    assert nearest_contrast(Facts(contrasts=[FAR])) == FAR
    assert nearest_contrast(Facts(contrasts=[replace(FAR, more=1_001)])) is None
    repeats = replace(FAR, unit="repeats", more=4, so_far=0)
    assert nearest_contrast(Facts(contrasts=[repeats])) == repeats


@pytest.mark.parametrize(
    "tag", [replace(TAG, cases=30), replace(TAG, difference=0.19)], ids=["many cases", "small difference"]
)
def test_tag_with_many_cases_or_small_difference_is_left(tag: TagDifference):
    assert open_tag(Facts(tags=[tag])) is None


def test_tag_differs_most_with_the_fewest_cases():
    smaller, more_cases = replace(TAG, tag="asia", difference=0.3), replace(TAG, tag="africa", cases=5)
    assert open_tag(Facts(tags=[smaller, more_cases, TAG])) == TAG
    assert (TAG.missing_cases, TAG.cost) == (28, 7.0)


def test_template_near_to_usual_category_is_suggested():
    facts = Facts(candidates=[CAPITALS, ARITHMETIC], votes={"coding": 9, "maths": 5}, categories=NAMES)
    assert near_template(facts) == NearTemplate(ARITHMETIC, "Maths", 5)
    assert near_template(replace(facts, votes={"maths": 4})) is None
    assert near_template(replace(facts, candidates=[CAPITALS])) is None
    own = Candidate("t3", "Composers", 3, {"questions on French operas": 3})
    assert near_template(Facts(candidates=[own], votes={"operas": 6}, categories=NAMES)) is not None


def test_template_of_the_name_has_all_its_cases():
    named = Candidate("t4", "Arithmetic", 16, {})
    facts = Facts(candidates=[ARITHMETIC, named], votes={"maths": 5}, categories=NAMES)
    assert near_template(facts) == NearTemplate(named, "Maths", 5)


def test_winner_over_most_contestants_is_named():
    one, two = Dominated("Ada", ("Bob",), "overall"), Dominated("Cyd", ("Dee", "Eve"), "overall")
    assert dominated_contestants(Facts(dominated=[one, two])) == two
