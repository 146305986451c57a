from reviews.statistics.quality import Alike, JudgedPair, Steadiness, alike_people, steadiness


def test_steadiness_compares_winners_not_sides():
    votes = [
        JudgedPair("a", 1, "ada", is_left=True, seconds=4),
        JudgedPair("a", 2, "tie", is_left=None, seconds=6),
        JudgedPair("a", 3, "bob", is_left=True, seconds=8),
        JudgedPair("a", 1, "ada", is_left=False, seconds=2, is_repeat=True),
        JudgedPair("a", 3, "ada", is_left=True, seconds=90, is_repeat=True),
    ]
    assert steadiness(votes) == Steadiness(again=2, same=1, decided=4, left=3, median_seconds=6)


def test_person_who_always_votes_left_is_not_steady():
    votes = [
        JudgedPair("a", item, f"{item} {'right' if again else 'left'}", is_left=True, seconds=1, is_repeat=again)
        for again in (False, True)
        for item in range(6)
    ]
    found = steadiness(votes)
    assert (found.again, found.same, found.left, found.decided) == (6, 0, 12, 12)


def test_people_with_the_same_answers_are_found():
    votes = [JudgedPair(person, item, item % 3, None, 1) for person in ("a", "b") for item in range(10)]
    votes += [JudgedPair("c", item, 0, None, 1) for item in range(10)]
    votes += [JudgedPair("d", item, item % 3, None, 1) for item in range(7)]  # too few to tell
    assert alike_people(votes) == [Alike(("a", "b"), common=10, same=10)]


def test_repeats_do_not_make_people_alike():
    votes = [JudgedPair(person, item, 0, None, 1, is_repeat=item > 4) for person in ("a", "b") for item in range(12)]
    assert alike_people(votes) == []
