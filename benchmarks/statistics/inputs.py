import hashlib
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.statistics.clusters import Flags, Floats, Indices
from benchmarks.statistics.headers import CaseHeader, EntrantHeader, RunHeader
from benchmarks.statistics.scores import Kind, Kinds, Scores


@dataclass(frozen=True)
class Usage:
    """Use of items, each of shape (entrants, cases, repeats), NaN where unknown.

    cost and times of reused answers do not count. lost_cost, lost_calls: of attempts that gave no answer.
    """

    cost: Floats
    lost_cost: Floats
    lost_calls: Floats
    first_token_ms: Floats
    total_ms: Floats
    prompt_tokens: Floats
    completion_tokens: Floats
    reasoning_tokens: Floats
    is_reused: Floats


@dataclass(frozen=True)
class RunInputs:
    """All numbers of a run's report.

    values: metric to values as checks gave them, shape (entrants, cases, repeats), NaN where there is none; one is
    SCORE, the primary one, and one may be PASSED, of 0 and 1. kinds: the same shape. not_extracted: shape (entrants,).
    """

    header: RunHeader
    entrants: list[EntrantHeader]
    cases: list[CaseHeader]
    values: dict[str, Floats]
    kinds: Kinds
    usage: Usage
    not_extracted: Indices

    def sorted(self) -> Self:
        """Return the same with entrants and cases in order of their keys, and without values that do not count."""
        rows = np.array(sorted(range(len(self.entrants)), key=lambda row: self.entrants[row].entrant), dtype=np.int64)
        columns = np.array(sorted(range(len(self.cases)), key=lambda column: self.cases[column].key), dtype=np.int64)
        place = np.ix_(rows, columns)
        used = {field.name: getattr(self.usage, field.name)[place] for field in fields(Usage)}
        for name in ("cost", "first_token_ms", "total_ms"):
            used[name] = np.where(used["is_reused"] > 0, np.nan, used[name])
        kinds = self.kinds[place]
        return replace(
            self,
            entrants=[self.entrants[row] for row in rows],
            cases=[self.cases[column] for column in columns],
            values={
                metric: np.where(kinds == Kind.SCORED, self.values[metric][place], np.nan)
                for metric in sorted(self.values)
            },
            kinds=kinds,
            usage=Usage(**used),
            not_extracted=self.not_extracted[rows],
        )

    def digest(self) -> str:
        """Return a SHA-256 that equal inputs share; expects sorted inputs."""
        headers = [self.header, self.entrants, self.cases, list(self.values), self.kinds.shape]
        digest = hashlib.sha256(msgspec.json.encode(headers))
        digest.update(np.ascontiguousarray(self.kinds, dtype=np.int8).tobytes())
        digest.update(self.not_extracted.astype("<i8").tobytes())
        for array in (*self.values.values(), *(getattr(self.usage, field.name) for field in fields(Usage))):
            # One bit pattern for NaN and one for zero.
            plain = np.where(np.isnan(array), np.nan, array + 0.0)
            digest.update(np.ascontiguousarray(plain, dtype="<f8").tobytes())
        return digest.hexdigest()

    @cached_property
    def weights(self) -> Floats:
        return np.array([case.weight for case in self.cases], dtype=float)

    @cached_property
    def has_weight(self) -> Flags:
        return self.weights > 0

    @cached_property
    def cluster_codes(self) -> NDArray[np.int64]:
        names = {name: code for code, name in enumerate(sorted({case.cluster for case in self.cases} - {""}))}
        return np.array(
            [names.get(case.cluster, len(names) + place) for place, case in enumerate(self.cases)], dtype=np.int64
        )

    def scores(self, metric: str) -> Scores:
        return Scores.from_items(
            self.values[metric], self.kinds, self.weights, self.cluster_codes, errors_count=self.header.errors_count
        )

    def tags(self) -> dict[str, Flags]:
        """Return which cases of positive weight have each tag."""
        weighted = [case for case in self.cases if case.weight > 0]
        flags: dict[str, Flags] = {}
        for place, case in enumerate(weighted):
            for tag in case.tags:
                flags.setdefault(tag, np.zeros(len(weighted), dtype=bool))[place] = True
        return flags
