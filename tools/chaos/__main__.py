"""`make chaos SECONDS=60 SEED=1`: people battle and vote while parts of the arena are killed."""

import argparse
import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")

from tools.chaos.play import play, summary


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    tally, kills = play(given.seconds, given.seed)
    print(summary(given.seed, given.seconds, tally, kills))
    return 1 if tally.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
