"""Frames of pandas and Polars, DuckDB and Spark: the same values, masked in their own types."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Any

import pytest

from dlpctl import frames
from dlpctl.detect.engine import Detector
from dlpctl.errors import CannotMaskError

MAIL = "jane.doe@northwind.org"
CARD = 4929123456789015


def masked(library: Detector, table: Any, **options: Any) -> Any:
    return frames.mask(table, "VENDOR", detector=library, **options)


def test_pandas(library: Detector) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "mail": [MAIL, None, "none"],
            "kind": pandas.Categorical([MAIL, "a", "a"]),
            "count": [1, 2, 3],
            "card": [CARD, 2, 3],
            "mixed": [1, f"ask {MAIL}", None],
            "nested": [[MAIL], None, []],
        },
        index=pandas.Index([MAIL, "b", "c"], name="who"),
    )
    result = masked(library, frame)
    assert MAIL not in result.to_csv()
    assert str(CARD) not in result.to_csv()
    assert MAIL in frame.to_csv(), "the given frame is not changed"
    assert list(result.columns) == list(frame.columns)
    assert result.index.name == "who"
    same = ["mail", "kind", "count", "mixed", "nested"]
    assert [str(result[name].dtype) for name in same] == [str(frame[name].dtype) for name in same]
    assert str(result["card"].dtype) == "Int64"
    assert result["count"].tolist() == [1, 2, 3]
    assert result["mixed"].iloc[0] == 1
    series = masked(library, frame["mail"])
    assert isinstance(series, pandas.Series)
    assert MAIL not in series.to_csv(index=False)


def test_pandas_with_names_that_repeat_and_levels(library: Detector) -> None:
    pandas = pytest.importorskip("pandas")
    levels = pandas.MultiIndex.from_arrays([[MAIL, "x"], [1, 2]], names=["a", "b"])
    frame = pandas.DataFrame([[MAIL, 1], ["x", 2]], columns=["c", "c"], index=levels)
    result = masked(library, frame)
    assert MAIL not in result.to_csv()
    assert list(result.columns) == ["c", "c"]
    assert result.index.names == ["a", "b"]
    assert result.index.get_level_values(1).tolist() == [1, 2]


def test_pandas_with_cyclic_and_foreign_values(library: Detector) -> None:
    pandas = pytest.importorskip("pandas")
    cyclic: list[object] = []
    cyclic.append(cyclic)
    for values in ([cyclic], [object()], [1, {"a": {1, 2}}]):
        frame = pandas.DataFrame({"odd": pandas.Series(values, dtype=object), "mail": MAIL})
        with pytest.raises(
            CannotMaskError, match=r"'odd' was not inspected: values of mixed types"
        ):
            masked(library, frame)
        kept = masked(library, frame, on_uninspected="warn")
        assert kept["odd"][0] is values[0]
        assert MAIL not in kept["mail"][0]


def test_polars(library: Detector) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "mail": [MAIL, None, "none"],
            "kind": polars.Series([MAIL, "a", "a"], dtype=polars.Categorical),
            "state": polars.Series([MAIL, "a", "a"], dtype=polars.Enum([MAIL, "a"])),
            "count": [1, 2, 3],
            "nested": [{"to": [MAIL]}, None, {"to": None}],
        }
    )
    result = masked(library, frame)
    assert MAIL not in str(result.to_dicts())
    assert {**result.schema, "state": None} == {**frame.schema, "state": None}
    assert isinstance(result.schema["state"], polars.Enum)
    assert result["mail"].null_count() == 1
    assert isinstance(masked(library, frame.lazy()), polars.LazyFrame)
    assert isinstance(masked(library, frame["mail"]), polars.Series)
    assert frames.classify(frame, detector=library)["nested.to[]"].type == "EMAIL"


def test_duckdb(library: Detector) -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    frames.register(connection, "VENDOR", detector=library)
    connection.execute("CREATE TABLE people AS SELECT ? AS mail, 'mail' AS header", [MAIL])
    connection.execute("INSERT INTO people VALUES (NULL, 'mail'), ('none', 'note')")
    rows = connection.execute(
        "SELECT dlp_mask(mail, 'mail'), dlp_types(mail, 'mail'), dlp_mask(mail, header) FROM people"
    ).fetchall()
    assert MAIL not in str(rows)
    assert [row[1] for row in rows] == ["EMAIL", None, None]
    assert [row[0] for row in rows] == [row[2] for row in rows]
    relation = masked(library, connection.sql("SELECT mail FROM people"))
    assert MAIL not in str(relation.to_pylist())


SPARK = """
import sys
from pyspark.sql import SparkSession
from dlpctl import frames

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
session = builder.getOrCreate()
people = session.createDataFrame([(sys.argv[1], 1), (None, 2), ("none", 3)], "mail string, n int")
masked = people.mapInArrow(frames.TableMasker("VENDOR"), people.schema)
print(sorted((row.n, row.mail) for row in masked.collect()))
"""


RAY = """
import sys
import pyarrow, ray
from dlpctl import frames

ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
people = pyarrow.table({"mail": [sys.argv[1], None, "none"], "n": [1, 2, 3]})
options = {"batch_format": "pyarrow", "fn_args": ["VENDOR"]}
masked = ray.data.from_arrow(people).map_batches(frames.mask, **options)
print(sorted((row["n"], row["mail"]) for row in masked.take_all()))
"""


@pytest.fixture
def home(compiled_cache: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Let other processes start with what is compiled."""
    shutil.copytree(compiled_cache, tmp_path / "cache")  # a link is not trusted
    monkeypatch.setenv("DLPCTL_HOME", str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize(("package", "script"), [("pyspark", SPARK), ("ray", RAY)])
@pytest.mark.usefixtures("home")
def test_clusters(monkeypatch: pytest.MonkeyPatch, package: str, script: str) -> None:
    """Spark and Ray Data send the function to processes of their own."""
    pytest.importorskip(package)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    ran = subprocess.run(
        [sys.executable, "-c", script, MAIL], capture_output=True, text=True, check=True
    )
    assert MAIL not in ran.stdout
    assert "(2, None), (3, 'none')]" in ran.stdout


@pytest.mark.usefixtures("home")
def test_dask() -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"mail": [MAIL, None, "none", f"ask {MAIL}"], "n": range(4)})
    lazy = dataframe.from_pandas(frame, npartitions=2)
    masked = lazy.map_partitions(frames.mask, "VENDOR", meta=lazy)
    found = masked.compute(scheduler="synchronous")
    assert MAIL not in found.to_csv()
    assert (found.dtypes == lazy.dtypes).all()
    assert found["mail"].isna().tolist() == [False, True, False, False]
    assert found["n"].tolist() == [0, 1, 2, 3]
