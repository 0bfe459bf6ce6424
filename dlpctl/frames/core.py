"""Classify and mask tables: batches of Arrow records go in, and come out with the same schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from dlpctl.arrow import counts_of, field_names, metadata_texts, rewrite_batch
from dlpctl.errors import CannotMaskError, StillExposedError
from dlpctl.frames.adapters import opened, validated
from dlpctl.frames.judging import (
    CLEAN,
    Classifier,
    Judge,
    Judgement,
    Remembering,
    ValueMasker,
)
from dlpctl.frames.report import Classification, ColumnReport
from dlpctl.policy.model import Policy
from dlpctl.preflight import Checker, checker_for, default_detector
from dlpctl.types import Action, Destination, Sensitivity

if TYPE_CHECKING:
    from pyarrow import Array, RecordBatch, Schema

    from dlpctl.detect.engine import Detector
    from dlpctl.operators.tokens import TokenStore

OnUninspected = Literal["block", "warn"]


def classify(
    table: Any,
    *,
    detector: Detector | None = None,
    min_score: float = Sensitivity.BALANCED.min_score,
) -> Classification:
    """Tell what each column of a table is, with the share of values; every value is read.

    A table is a pandas or Polars frame or series, an Arrow table, batch or reader of batches, or
    anything else with Arrow's C stream, such as a relation of DuckDB.
    """
    tally = Tally(Remembering(Classifier(detector or default_detector(), min_score)))
    frame = opened(table)
    tally.add_schema(frame.schema)
    for batch in frame.batches():
        tally.add(batch)
    for name, reason in frame.unreadable:
        tally.uninspected(name, reason)
    return tally.classification


def mask(
    table: Any,
    destination: Destination | str = Destination.AI_TOOL,
    policy: Policy | None = None,
    *,
    detector: Detector | None = None,
    operator: str | None = None,
    key: bytes | None = None,
    vault: TokenStore | None = None,
    on_uninspected: OnUninspected = "block",
) -> Any:
    """Return a table like the given one, with everything replaced that the policy masks or blocks.

    Under one key, the same value becomes the same in every table. Raises `CannotMaskError` for a
    column that cannot be read, unless `on_uninspected` is `"warn"`.
    """
    return TableMasker(
        destination,
        policy,
        detector=detector,
        operator=operator,
        key=key,
        vault=vault,
        on_uninspected=on_uninspected,
    ).mask(table)


class Tally:
    """Counts what a judge finds in the texts of a table, and passes on what replaces them."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._rows = 0
        self._columns: dict[str, ColumnReport] = {}

    @property
    def classification(self) -> Classification:
        return Classification(self._rows, list(self._columns.values()))

    def add_schema(self, schema: Schema) -> None:
        """Judge the names and the metadata of columns, which may hold values themselves."""
        names = [(f"name of column {at}", name) for at, name in enumerate(field_names(schema), 1)]
        for path, text in (*names, *(("metadata", text) for text in metadata_texts(schema))):
            (judgement,) = self._judge("name", [text])
            if judgement.types:
                column = self._column(path)
                column.values += 1
                column.found.update(judgement.types)
            if judgement.masked is not None:
                raise StillExposedError(
                    f"the {path} holds a value of {judgement.types[0]}: change or remove it"
                )

    def add(self, batch: RecordBatch) -> RecordBatch:
        """Return a batch with what is masked replaced."""
        self._rows += batch.num_rows
        return rewrite_batch(batch, self)

    def texts(
        self, path: str, header: str, texts: Sequence[str], indices: Array
    ) -> Mapping[int, str]:
        column = self._column(path)
        counts = counts_of(texts, indices)
        column.values += sum(counts)
        judged = self._judge(header, texts)
        replaced: dict[int, str] = {}
        for number in [at for at, judgement in enumerate(judged) if judgement is not CLEAN]:
            types, masked = judged[number]
            for name in types:
                column.found[name] += counts[number]
            if masked is not None:
                replaced[number] = masked
        return replaced

    def uninspected(self, path: str, reason: str) -> None:
        self._column(path).uninspected = reason

    def _column(self, path: str) -> ColumnReport:
        return self._columns.setdefault(path, ColumnReport(path))


class TableMasker:
    """Masks tables, one after the other, and tells what was in them.

    As a function of batches it is what `mapInArrow` of Spark takes; workers get a copy that builds
    its engine once.
    """

    def __init__(
        self,
        destination: Destination | str = Destination.AI_TOOL,
        policy: Policy | None = None,
        *,
        detector: Detector | None = None,
        operator: str | None = None,
        key: bytes | None = None,
        vault: TokenStore | None = None,
        on_uninspected: OnUninspected = "block",
    ) -> None:
        self._destination = destination
        self._policy = _without_counts(policy or Policy.builtin())
        self._detector = detector
        self._operator = operator or ("token" if vault is not None else None)
        self._key = key
        self._vault = vault
        self._on_uninspected = on_uninspected

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in type(self).__dict__  # what is built on demand
        }

    @cached_property
    def checker(self) -> Checker:
        return checker_for(
            self._destination, self._policy, self._detector, self._operator, self._key
        )

    @cached_property
    def _judge(self) -> Judge:
        self.checker.scan("")  # loads the taggers, which may be missing
        reason = self.checker.not_inspected()
        if reason:
            raise CannotMaskError(f"{reason}; no copy was returned")
        return Remembering(ValueMasker(self.checker, self.checker.masker(self._vault)))

    @cached_property
    def _tally(self) -> Tally:
        return Tally(self._judge)

    @property
    def classification(self) -> Classification:
        """The columns of the tables that were masked so far."""
        return self._tally.classification

    def mask(self, table: Any) -> Any:
        """Return a table like the given one without what must not be shown."""
        frame = opened(table)
        for name, reason in frame.unreadable:
            self._tally.uninspected(name, reason)
        self._require_inspection()
        return frame.masked(self._masked(frame.schema, frame.batches()))

    def judge(self, header: str, values: Sequence[str]) -> Sequence[Judgement]:
        """Return what is in each value below a header, and what replaces it."""
        with self._transaction():
            return self._judge(header, values)

    def __call__(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        """Yield the batches of one table, masked."""
        schema = None
        for batch in batches:
            if schema is None:
                schema = batch.schema
                self._tally.add_schema(schema)
            if not batch.schema.equals(schema, check_metadata=True):
                raise CannotMaskError("the batches of the table differ in their columns or types")
            yield self._masked_batch(validated(batch))

    def _masked(self, schema: Schema, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        self._tally.add_schema(schema)
        return map(self._masked_batch, batches)

    def _masked_batch(self, batch: RecordBatch) -> RecordBatch:
        with self._transaction():
            masked = self._tally.add(batch)
        self._require_inspection()
        return masked

    def _transaction(self) -> AbstractContextManager[object]:
        return nullcontext() if self._vault is None else self._vault.transaction()

    def _require_inspection(self) -> None:
        missing = self._tally.classification.uninspected
        if missing and self._on_uninspected == "block":
            first = missing[0]
            raise CannotMaskError(
                f"column {first.name!r} was not inspected: {first.uninspected}; leave it out, or"
                " pass on_uninspected='warn' to keep it as it is"
            )


def _without_counts(policy: Policy) -> Policy:
    """Return a policy whose rules need no minimum of findings: batches cannot be counted together,
    so that a rule which masks some many values masks each.
    """
    rules = tuple(
        rule._replace(min_count=1, min_distinct=1)
        for rule in policy.rules
        if max(rule.min_count, rule.min_distinct) < 2 or rule.action is not Action.ALLOW
    )
    return policy._replace(rules=rules)
