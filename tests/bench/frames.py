"""Time the classification and the masking of tables.

    python tests/bench/frames.py [--json] [--short] [--rows N] [--presidio PYTHON]

A column of short strings: of ten values seven are clean, and one each is a mail address, a card
number and a social security number. `repeated` has each value ten times, as a table of orders has
its customers; `distinct` has each once. `value by value` is `Detector.scan` called for
each value, which masks nothing. Seconds are those of the processor, and of adapters the least of
three; Spark, whose worker is another process, is measured by the clock, as the core beside it.
`--presidio` names a Python with presidio-structured, which is given the same rows, without a model
for names.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pyarrow

from dlpctl import Detector, frames
from dlpctl.detect.validators.checksums import luhn_checks

ROWS = 1_000_000
SAMPLE, PARTS = 6_000, 20
PRESIDIO_ROWS = 10_000
WORDS = [
    *("order", "shipped", "pending", "blue", "green", "widget", "invoice", "paid", "note"),
    *("checked", "delivered", "return", "large", "small", "metal", "wood", "table", "chair"),
]
PRESIDIO = """
import json, sys, time
import pandas, spacy
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_analyzer.nlp_engine import SpacyNlpEngine
from presidio_structured import PandasAnalysisBuilder, StructuredEngine, PandasDataProcessor

class Blank(SpacyNlpEngine):
    def __init__(self):
        super().__init__()
        self.nlp = {"en": spacy.blank("en")}
    def load(self):
        pass

frame = pandas.DataFrame({"note": json.load(sys.stdin)})
analyzer = AnalyzerEngine(nlp_engine=Blank(), supported_languages=["en"])
builder = PandasAnalysisBuilder(analyzer=analyzer)
start = time.process_time()
analysis = builder.generate_analysis(frame)
StructuredEngine(data_processor=PandasDataProcessor()).anonymize(frame, analysis)
print(time.process_time() - start)
"""


def column(rows: int, repetitions: int) -> list[str]:
    """Return a column in which each sensitive value occurs so many times."""
    source = random.Random(22)

    def clean() -> str:
        words = " ".join(source.choice(WORDS) for _ in range(source.randint(1, 4)))
        return f"{words} {source.randint(1, 999)}" if source.random() < 0.3 else words

    def email() -> str:
        name = "".join(source.choices("abcdefghijklmnoprstuvw", k=9))
        return f"{name}.{source.randint(1, 99)}@{name[:5]}.com"

    def card() -> str:
        body = "4" + "".join(source.choices("0123456789", k=14))
        return next(body + digit for digit in "0123456789" if luhn_checks(body + digit))

    def ssn() -> str:
        area = source.randint(1, 665)
        return f"{area:03d}-{source.randint(1, 99):02d}-{source.randint(1, 9999):04d}"

    makers = (email, card, ssn, *[clean] * 7)
    values = [makers[number % 10]() for number in range(rows // repetitions)] * repetitions
    source.shuffle(values)
    return values


def measured(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    start = clock()
    work()
    return clock() - start


def core(values: list[str]) -> dict[str, float]:
    """Measure one by one, and the table, in values a second: parts of both in turns, so that a
    machine which becomes slower does so for both.
    """
    detector = Detector()
    frames.mask(pyarrow.table({"note": values[:1000]}), "VENDOR", detector=detector)
    masker = frames.TableMasker("VENDOR", detector=detector)
    size, few = max(len(values) // PARTS, 1), SAMPLE // PARTS
    starts = range(0, len(values), size)
    some = [values[start : start + few] for start in starts]
    tables = [pyarrow.table({"note": values[start : start + size]}) for start in starts]
    one_by_one = both = 0.0
    for part, table in zip(some, tables, strict=True):
        one_by_one += measured(lambda part=part: [detector.scan(value) for value in part])
        both += measured(lambda table=table: masker.mask(table))
    assert masker.classification["note"].found["EMAIL"] >= len(values) // 12
    single = sum(map(len, some)) / one_by_one
    return {
        "value by value": single,
        "classify and mask": len(values) / both,
        "ratio": len(values) / both / single,
        "distinct": len(set(values)) / len(values),
    }


def adapters(values: list[str]) -> dict[str, float]:
    """Measure the speed of the adapters against that of the core on an Arrow table."""
    found: dict[str, float] = {}
    table = pyarrow.table({"note": values})
    frames.mask(table.slice(0, 1000), "VENDOR")
    for name, make, clock in (
        ("pandas", _pandas, time.process_time),
        ("polars", _polars, time.process_time),
        ("duckdb, a function", _duckdb_function, time.process_time),
        ("duckdb, a relation", _duckdb_relation, time.process_time),
        ("spark", _spark, time.perf_counter),
    ):
        try:
            works = [make(table) for _ in range(3)]
        except ImportError:
            continue
        plain = min(measured(lambda: frames.mask(table, "VENDOR"), clock) for _ in works)
        found[name] = plain / min(measured(work, clock) for work in works)
    return found


def _pandas(table: Any) -> Callable[[], object]:
    frame = table.to_pandas()
    return lambda: frames.mask(frame, "VENDOR")


def _polars(table: Any) -> Callable[[], object]:
    import polars

    frame = polars.from_arrow(table)
    return lambda: frames.mask(frame, "VENDOR")


def _duckdb(table: Any) -> Any:
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.register("given", table)
    connection.execute("CREATE TABLE customers AS SELECT * FROM given")
    return connection


def _duckdb_relation(table: Any) -> Callable[[], object]:
    connection = _duckdb(table)
    return lambda: frames.mask(connection.table("customers"), "VENDOR")


def _duckdb_function(table: Any) -> Callable[[], object]:
    connection = _duckdb(table)
    frames.register(connection, "VENDOR")
    masked = "CREATE TABLE masked AS SELECT dlp_mask(note, 'note') AS c FROM customers"
    return lambda: connection.execute(masked)


def _spark(table: Any) -> Callable[[], object]:
    import os

    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config(
        "spark.sql.execution.arrow.maxRecordsPerBatch", str(1 << 18)
    )
    session = builder.getOrCreate()
    frame = session.createDataFrame(table).repartition(1).cache()
    frame.count()

    def work() -> None:
        masked = frame.mapInArrow(frames.TableMasker("VENDOR"), frame.schema)
        masked.write.format("noop").mode("overwrite").save()

    masked = frame.limit(100).mapInArrow(frames.TableMasker("VENDOR"), frame.schema)
    masked.write.format("noop").mode("overwrite").save()
    return work


def presidio(values: list[str], python: str) -> dict[str, float]:
    ran = subprocess.run(
        [python, "-c", PRESIDIO],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        check=True,
    )
    table = pyarrow.table({"note": values})
    own = measured(lambda: frames.mask(table, "VENDOR"))
    theirs = float(ran.stdout)
    return {"presidio": len(values) / theirs, "own": len(values) / own, "ratio": theirs / own}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--short", action="store_true", help="a hundredth of the rows")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--presidio", metavar="PYTHON")
    options = parser.parse_args()
    rows = options.rows // 100 if options.short else options.rows
    figures: dict[str, Any] = {
        name: core(column(rows, repetitions))
        for name, repetitions in (("repeated", 10), ("distinct", 1))
    }
    if not options.short:
        figures["adapters"] = adapters(column(rows, 10))
    if options.presidio:
        figures["presidio"] = presidio(column(PRESIDIO_ROWS, 10), options.presidio)
    if options.json:
        print(json.dumps(figures))
        return
    for name, rates in figures.items():
        print(name)
        for label, rate in rates.items():
            print(f"  {label:20} {rate:12,.2f}")


if __name__ == "__main__":
    sys.exit(main())
