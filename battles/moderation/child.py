"""Examine long texts in a process of its own: its expressions and spellings take seconds, in which no thread runs.

Reads an Examination from stdin, writes the indexes of the rules that match. It has no database, settings or keys.
"""

import sys

import msgspec

from battles.text.deobfuscation import text_variants
from battles.text.matching import expression_matcher, phrase_matcher
from common.child_process.limits import limit_run


class RulePatterns(msgspec.Struct, array_like=True):
    are_expressions: bool
    patterns: list[str]


class Examination(msgspec.Struct, array_like=True):
    rules: list[RulePatterns]
    passages: list[list[str]]


def matching_rules(examination: Examination) -> list[int]:
    matchers = [
        (expression_matcher if rule.are_expressions else phrase_matcher)(rule.patterns) for rule in examination.rules
    ]
    matching: set[int] = set()
    for passage in examination.passages:
        variants = text_variants(passage)
        matching.update(index for index, matcher in enumerate(matchers) if matcher.matches(variants))
    return sorted(matching)


def main() -> None:
    limit_run()
    examination = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Examination)
    sys.stdout.buffer.write(msgspec.msgpack.encode(matching_rules(examination)))


if __name__ == "__main__":
    main()
