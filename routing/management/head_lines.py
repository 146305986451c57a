from collections.abc import Iterable

from routing.learning.heads import HeadReport


def head_lines(heads: Iterable[HeadReport]) -> list[str]:
    return [
        f"{head['name']:8} {'decides' if head['passed'] else 'is off '}  gain {head['gain']:+.4f}, "
        f"lower bound {head['lower_bound']:+.4f}, scale {head['scale']}"
        for head in heads
    ]
