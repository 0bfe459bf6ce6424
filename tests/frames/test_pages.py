"""The examples of `dlpctl help tables` run as they are written."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from dlpctl import TokenStore, frames
from dlpctl.cli import topics

MAIL = "jane.doe@northwind.org"


class Engine:
    """Spark, Dask and Ray as far as the page needs them: they call a function of theirs."""

    schema = None

    def mapInArrow(self, function: Any, schema: None) -> None:
        batch = pyarrow.record_batch({"mail": [MAIL]})
        assert MAIL not in str([each.to_pylist() for each in function(iter([batch]))])

    def map_partitions(self, function: Any, *arguments: Any, meta: Any) -> None:
        assert MAIL not in str(function(pyarrow.table({"mail": [MAIL]}), *arguments))

    def map_batches(self, function: Any, batch_format: str, fn_args: list[Any]) -> None:
        assert batch_format == "pyarrow"
        assert MAIL not in str(function(pyarrow.table({"mail": [MAIL]}), *fn_args))


def test_examples(compiled_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    shutil.copytree(compiled_cache, tmp_path / "cache")  # a link is not trusted
    monkeypatch.setenv("DLPCTL_HOME", str(tmp_path))
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT ? AS mail, ? AS notes", [MAIL, f"ask {MAIL}"])
    customers = pyarrow.table({"contact": [MAIL], "notes": [f"ask {MAIL}"]})
    sent: list[Any] = []
    names: dict[str, Any] = {
        "customers": customers,
        "orders": pyarrow.table({"zip_code": ["90210"], "mail": [MAIL]}),
        "key": bytes(32),
        "vault": TokenStore(),
        "reader": customers.to_reader(),
        "send": sent.append,
        "connection": connection,
        "spark_frame": Engine(),
        "dask_frame": Engine(),
        "ray_data": Engine(),
    }
    for code in re.findall(r"```python\n(.*?)```", topics.text("tables"), re.DOTALL):
        exec(code, names)
    assert names["found"]["contact"].type == "EMAIL"
    assert MAIL not in str(names["safe"].to_pylist())
    assert MAIL not in str([each.to_pylist() for each in sent])
    assert isinstance(names["masker"].classification, frames.Classification)
