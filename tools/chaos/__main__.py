"""`make chaos SECONDS=60 SEED=1`: battle and vote while parts of the arena are killed."""

import argparse
import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")

from tools.chaos.play import play, summary


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tally, kills = play(arguments.seconds, arguments.seed)
    print(summary(arguments.seed, arguments.seconds, tally, kills))
    return 1 if tally.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
