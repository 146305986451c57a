from common.cache import DerivedCached


def test_value_is_built_once_from_the_same_objects():
    built: list[list[int]] = []
    first, second = [1], [2]

    def build(*sources: list[int]) -> int:
        built.append([number for source in sources for number in source])
        return len(built)

    cached = DerivedCached(build, from_=(lambda: first, lambda: second))
    assert [cached(), cached()] == [1, 1]
    first = [1]  # equal, but another object
    assert [cached(), cached()] == [2, 2]
    second = [3]
    assert [cached(), built] == [3, [[1, 2], [1, 2], [1, 3]]]
