"""Tables are classified and masked, and keep their structure."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from dlpctl import TokenStore, frames
from dlpctl.detect.engine import Detector
from dlpctl.errors import CannotMaskError, StillExposedError, UsageError
from dlpctl.frames import TableMasker
from dlpctl.operators.fpe import DigitCipher
from dlpctl.policy.model import Policy

MAIL = "jane.doe@northwind.org"
OTHER = "omar.khan@northwind.org"
CARD = "4929123456789015"
KEY = bytes(range(32))

Mask = Callable[..., Any]


@pytest.fixture(scope="module")
def mask(library: Detector) -> Mask:
    def call(table: Any, **options: Any) -> Any:
        return frames.mask(table, "VENDOR", detector=library, **options)

    return call


def test_columns_are_classified_by_the_share_of_their_values(library: Detector) -> None:
    table = pa.table(
        {"contact": [MAIL, OTHER, MAIL, None], "note": ["fine", f"ask {MAIL}", "fine", "late"]}
    )
    found = frames.classify(table, detector=library)
    assert found.rows == 4
    assert (found["contact"].type, found["contact"].values) == ("EMAIL", 3)
    assert found["contact"].shares == {"EMAIL": 1.0}
    assert (found["note"].type, found["note"].shares) == (None, {"EMAIL": 0.25})
    assert [column.name for column in found.sensitive] == ["contact", "note"]
    assert MAIL not in str(found) + str(found.to_dict())


def test_the_header_of_a_column_identifies_its_values(library: Detector) -> None:
    table = pa.table(
        {"birth_date": [datetime.date(1980, 4, 5)], "due": [datetime.date(1980, 4, 5)]}
    )
    found = frames.classify(table, detector=library)
    assert (found["birth_date"].type, found["due"].type) == ("DATE_OF_BIRTH", None)


@pytest.mark.parametrize(
    "array",
    [
        pa.array([MAIL, None, "fine"]),
        pa.array([MAIL, None, "fine"], pa.large_string()),
        pa.array([MAIL, None, "fine"], pa.string_view()),
        pa.array([MAIL.encode(), None, b"fine"]),
        pa.array([MAIL.encode(), None, b"fine"], pa.binary_view()),
        pa.array([MAIL, None, "fine", MAIL]).dictionary_encode(),
        pa.array(["fine", MAIL, OTHER, None])
        .dictionary_encode()
        .cast(pa.dictionary(pa.int8(), pa.string())),
        pa.array([{"mail": MAIL, "n": 1}, None, {"mail": None, "n": 2}]),
        pa.array([[MAIL, "a"], None, [], [None, OTHER]]),
        pa.array([[MAIL, "a"], None, []], pa.large_list(pa.large_string())),
        pa.array([[MAIL, "a"], None, ["b", "c"]], pa.list_(pa.string(), 2)),
        pa.array([[{"to": [MAIL]}], None, [None, {"to": None}, {"to": []}]]),
        pa.array([[("mail", MAIL)], None, []], pa.map_(pa.string(), pa.string())),
        pa.array([[], [("cc", [OTHER])]], pa.map_(pa.string(), pa.list_(pa.string()))),
    ],
    ids=lambda array: str(array.type),
)
def test_types_nulls_and_shapes_stay(mask: Mask, array: Any) -> None:
    for given in (array, array.slice(1), pa.concat_arrays([array, array]).slice(2)):
        table = pa.table({"value": given})
        masked = mask(table)
        masked.validate(full=True)
        assert masked.schema == table.schema
        assert MAIL not in str(masked.to_pylist())
        assert OTHER not in str(masked.to_pylist())
        assert _outline(masked.to_pylist()) == _outline(table.to_pylist())


def _outline(value: Any) -> Any:
    """Return nested values without their texts."""
    if isinstance(value, dict):
        return {key: _outline(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_outline(each) for each in value]
    return type(value)


def test_categories_that_become_the_same_are_one(mask: Mask) -> None:
    column = pa.array([MAIL, OTHER, "fine", MAIL]).dictionary_encode()
    masked = mask(pa.table({"c": column}), operator="redact")["c"].combine_chunks()
    assert masked.to_pylist() == ["[EMAIL]", "[EMAIL]", "fine", "[EMAIL]"]
    assert len(masked.dictionary) == 2


def test_unused_categories_are_dropped(mask: Mask) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array(["fine", MAIL]))
    assert MAIL not in str(mask(pa.table({"c": column}))["c"].combine_chunks().dictionary)


def test_values_below_a_null_are_dropped(mask: Mask) -> None:
    hidden = pa.array([MAIL, OTHER])
    struct = pa.StructArray.from_arrays([hidden], ["mail"], mask=pa.array([True, False]))
    masked = mask(pa.table({"c": struct}))["c"].combine_chunks()
    assert MAIL not in str(masked.field(0))


def test_numbers_keep_their_type_or_become_null(mask: Mask) -> None:
    table = pa.table(
        {
            "card": pa.array([int(CARD), 7, None]),
            "floating": pa.array([float(CARD), 7.0, None]),
            "exact": pa.array([decimal.Decimal(CARD), decimal.Decimal(7), None]),
            "count": pa.array([1, 2, 3], pa.int8()),
        }
    )
    partial = mask(table)
    assert partial.schema == table.schema
    assert partial["card"].to_pylist() == [None, 7, None]
    assert partial["floating"].to_pylist() == [None, 7.0, None]
    assert partial["exact"].to_pylist() == [None, 7, None]
    encrypted = mask(table, operator="encrypt", key=KEY)["card"].to_pylist()
    assert encrypted[0] not in (None, int(CARD))
    assert encrypted[1:] == [7, None]


def test_the_same_value_has_the_same_surrogate_in_every_table(mask: Mask) -> None:
    for operator in ("surrogate", "hash"):
        orders = mask(pa.table({"customer_mail": [MAIL, OTHER]}), operator=operator, key=KEY)
        people = mask(pa.table({"mail": [OTHER, MAIL]}), operator=operator, key=KEY)
        assert orders["customer_mail"].to_pylist() == people["mail"].to_pylist()[::-1]
        assert orders["customer_mail"][0] != orders["customer_mail"][1]


def test_the_same_number_has_the_same_surrogate_in_every_type(mask: Mask) -> None:
    for operator in ("surrogate", "encrypt"):
        columns = {
            "text": pa.array([CARD]),
            "large": pa.array([CARD], pa.large_string()),
            "number": pa.array([int(CARD)]),
            "exact": pa.array([decimal.Decimal(CARD)]),
            "category": pa.array([CARD]).dictionary_encode(),
        }
        made = {
            str(mask(pa.table({"card": column}), operator=operator, key=KEY)["card"][0].as_py())
            for column in columns.values()
        }
        assert len(made) == 1
        assert made.isdisjoint({CARD, "None"})


def test_tokens_of_a_vault_are_the_same_in_every_table(mask: Mask) -> None:
    vault = TokenStore()
    first = mask(pa.table({"mail": [MAIL]}), vault=vault)["mail"].to_pylist()
    second = mask(pa.table({"note": [f"ask {MAIL}"]}), vault=vault)["note"].to_pylist()
    assert first == ["<EMAIL_1>"]
    assert second == ["ask <EMAIL_1>"]


def test_short_numbers_are_encrypted_by_the_vault(mask: Mask) -> None:
    vault = TokenStore()
    table = pa.table({"zip_code": ["90210", "90210"], "card": [CARD, "none"]})
    masked = mask(table, operator="encrypt", key=KEY, vault=vault)
    assert masked["zip_code"].to_pylist() == ["<POSTAL_CODE_1>"] * 2
    assert masked["card"][0].as_py() != CARD
    assert len(masked["card"][0].as_py()) == len(CARD)


def test_ciphertext_stays_although_it_looks_like_a_value(mask: Mask) -> None:
    numbers = [f"536-{number}-8726" for number in range(10, 60)]
    table = pa.table({"ssn": numbers, "comment": [f"SSN: {number}, new" for number in numbers]})
    masked = mask(table, operator="encrypt", key=KEY).to_pydict()
    assert masked["comment"] == [f"SSN: {number}, new" for number in masked["ssn"]]
    cipher = DigitCipher(KEY)
    assert [cipher.decrypt("SSN", number) for number in masked["ssn"]] == numbers


def test_what_cannot_be_read_blocks_or_is_reported(mask: Mask, library: Detector) -> None:
    table = pa.table({"mail": [MAIL], "photo": [b"\xff\xd8\xff\xe0"]})
    with pytest.raises(CannotMaskError, match=r"'photo' was not inspected: binary data"):
        mask(table)
    masked = mask(table, on_uninspected="warn")
    assert masked["photo"] == table["photo"]
    assert MAIL not in str(masked["mail"])
    missed = frames.classify(table, detector=library).uninspected
    assert [(column.name, column.uninspected) for column in missed] == [("photo", "binary data")]


def test_unions_are_not_taken_for_clean(mask: Mask) -> None:
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([MAIL])])
    with pytest.raises(CannotMaskError, match="cannot be read"):
        mask(pa.table({"c": union}))


def test_nesting_without_end_is_not_followed(mask: Mask) -> None:
    array = pa.array([MAIL])
    for _ in range(80):
        array = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), array)
    with pytest.raises(CannotMaskError, match="nests deeper than"):
        mask(pa.table({"c": array}))


def test_names_of_columns_that_hold_values_block_without_showing_them(
    mask: Mask, library: Detector
) -> None:
    for table in (pa.table({MAIL: [1]}), pa.table({"c": [{MAIL: 1}]})):
        with pytest.raises(
            StillExposedError, match=r"the name of column \d holds a value of EMAIL"
        ) as found:
            mask(table)
        assert MAIL not in str(found.value)
        assert frames.classify(table, detector=library).sensitive[0].found == {"EMAIL": 1}


def test_metadata_that_holds_values_blocks(mask: Mask) -> None:
    pandas = pytest.importorskip("pandas")
    table = pa.Table.from_pandas(pandas.DataFrame({"mail": [MAIL]}, index=["a"]))
    assert mask(table).schema.metadata == table.schema.metadata
    noted = table.replace_schema_metadata({"owner": MAIL})
    field = pa.schema([pa.field("n", pa.int8(), metadata={"owner": MAIL})])
    for each in (noted, pa.table({"n": [1]}, schema=field)):
        with pytest.raises(StillExposedError, match="the metadata holds a value of EMAIL"):
            mask(each)


def test_objects_other_than_tables_are_refused(mask: Mask) -> None:
    with pytest.raises(UsageError, match="a str is no table"):
        mask("text")


def test_batches_and_readers_keep_their_types(mask: Mask) -> None:
    batch = pa.record_batch({"mail": [MAIL, None]})
    assert isinstance(mask(batch), pa.RecordBatch)
    reader = pa.RecordBatchReader.from_batches(batch.schema, iter([batch, batch]))
    masked = mask(reader)
    assert isinstance(masked, pa.RecordBatchReader)
    assert MAIL not in str(masked.read_all().to_pylist())
    assert mask(pa.table({"mail": pa.array([], pa.string())})).num_rows == 0
    assert mask(batch.slice(0, 0)).num_rows == 0


def test_a_reader_is_masked_batch_by_batch(mask: Mask) -> None:
    given = 0

    def batches() -> Any:
        nonlocal given
        for _ in range(100):
            given += 1
            yield pa.record_batch({"mail": [MAIL]})

    reader = pa.RecordBatchReader.from_batches(pa.schema({"mail": pa.string()}), batches())
    masked = mask(reader)
    masked.read_next_batch()
    assert given <= 2


def test_a_masker_reports_the_findings_of_all_its_tables(library: Detector) -> None:
    masker = TableMasker("VENDOR", detector=library)
    masker.mask(pa.table({"mail": [MAIL]}))
    masker.mask(pa.table({"mail": [OTHER, "none"]}))
    assert masker.classification.rows == 3
    assert masker.classification["mail"].found == {"EMAIL": 2}


def test_policies_decide_and_rules_that_count_act_on_each_value(library: Detector) -> None:
    rule = {"id": "many", "action": "MASK", "dataTypes": ["EMAIL"], "destinations": ["VENDOR"]}
    policy = Policy.from_dict({"name": "p", "rules": [rule | {"minCount": 5}]})
    table = pa.table({"mail": [MAIL], "card": [CARD]})
    masked = frames.mask(table, "VENDOR", policy, detector=library)
    assert MAIL not in str(masked["mail"])
    assert masked["card"] == table["card"]


def test_masked_values_are_masked_once(mask: Mask) -> None:
    table = pa.table({"mail": [MAIL, f"{MAIL} and {OTHER}, {CARD}"]})
    once = mask(table)
    assert mask(once) == once
    assert not any(value in str(once.to_pylist()) for value in (MAIL, OTHER, CARD))


def _from_buffers(data_type: Any, offsets: list[int], data: bytes) -> Any:
    written = pa.py_buffer(b"".join(offset.to_bytes(4, "little") for offset in offsets))
    return pa.Array.from_buffers(data_type, len(offsets) - 1, [None, written, pa.py_buffer(data)])


@pytest.mark.parametrize(
    "array",
    [
        _from_buffers(pa.string(), [0, 2], b"\xff\xfe"),
        _from_buffers(pa.string(), [0, 2, 1], b"ab"),
        pa.DictionaryArray.from_arrays(pa.array([0, 5]), pa.array(["a"]), safe=False),
    ],
    ids=["invalid text", "descending offsets", "missing category"],
)
def test_damaged_arrays_are_refused(mask: Mask, library: Detector, array: Any) -> None:
    table = pa.table({"c": array})
    batch = table.to_batches()[0]
    for work in (
        lambda: mask(table),
        lambda: mask(pa.concat_tables([table, table])),
        lambda: mask(pa.RecordBatchReader.from_batches(table.schema, [batch])).read_all(),
        lambda: list(TableMasker("VENDOR", detector=library)([batch])),
        lambda: frames.classify(table, detector=library),
    ):
        with pytest.raises(CannotMaskError, match="the table is damaged"):
            work()


def test_streams_that_break_off_or_change_are_refused(mask: Mask, library: Detector) -> None:
    batch = pa.record_batch({"note": ["fine" * 100]})
    written = pa.BufferOutputStream()
    with pa.ipc.new_stream(written, batch.schema) as stream:
        stream.write_batch(batch)
    cut = written.getvalue()[:-100]
    other = [batch, pa.record_batch({MAIL: [1]})]
    for opened, reason in (
        (lambda: pa.ipc.open_stream(cut), "its batches cannot be read"),
        (lambda: pa.RecordBatchReader.from_batches(batch.schema, other), "differ in their columns"),
    ):
        with pytest.raises(CannotMaskError, match=reason):
            mask(opened()).read_all()
        with pytest.raises(CannotMaskError, match=reason):
            frames.classify(opened(), detector=library)


def test_batches_of_another_schema_are_refused(library: Detector) -> None:
    first = pa.record_batch({"note": ["fine"]})
    masker = TableMasker("VENDOR", detector=library)
    for other in (pa.record_batch({MAIL: ["fine"]}), pa.record_batch({"note": [1]})):
        masked = masker([first, other])
        assert next(masked).equals(first)
        with pytest.raises(CannotMaskError, match="differ in their columns") as found:
            next(masked)
        assert MAIL not in str(found.value)


def test_gigantic_values_are_read_to_their_end(mask: Mask) -> None:
    table = pa.table(
        {
            "text": ["plain words " * 50_000 + MAIL],
            "list": [["x"] * 100_000 + [MAIL]],
            "structs": [[{"a": [{"b": number}]} for number in range(10_000)] + [{"a": [{"b": 7}]}]],
        }
    )
    masked = mask(table)
    assert masked.schema == table.schema
    assert MAIL not in masked["text"][0].as_py()
    assert MAIL not in masked["list"][0].as_py()
    assert len(masked["list"][0]) == 100_001
    assert masked["structs"] == table["structs"]


def test_dates_and_durations_are_kept_or_become_null(mask: Mask) -> None:
    moment = datetime.datetime(1980, 4, 5, 6, 7, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "birth_date": [moment.date()],
            "due": [moment.date()],
            "at": [moment],
            "time": [moment.time()],
            "lasts": [datetime.timedelta(seconds=5)],
        }
    )
    masked = mask(table)
    assert masked.schema == table.schema
    assert masked.to_pylist() == [{**table.to_pylist()[0], "birth_date": None}]


def test_fields_without_nulls_get_values_that_are_nobodys(mask: Mask) -> None:
    born = datetime.datetime(1980, 4, 5, tzinfo=datetime.UTC)
    values = {
        "card": pa.array([int(CARD)]),
        "birth_date": pa.array([born.date()]),
        "date_of_birth": pa.array([born], pa.timestamp("ns", "UTC")),
    }
    fields = [pa.field(name, array.type, nullable=False) for name, array in values.items()]
    nested = pa.StructArray.from_arrays(list(values.values()), fields=fields)
    each = pa.ListArray.from_arrays([0, 1], nested)
    given = pa.table([*values.values(), each], pa.schema([*fields, pa.field("all", each.type)]))
    masked = mask(given)
    assert masked.schema == given.schema
    blank = {"card": 0, "birth_date": "1800-01-01", "date_of_birth": "1800-01-01"}
    (row,) = masked.to_pylist()
    for record in (row, *row.pop("all")):
        assert {name: str(value)[:10] for name, value in record.items()} == {
            name: str(value) for name, value in blank.items()
        }
    assert mask(masked).to_pylist() == masked.to_pylist()


def test_a_null_where_none_is_allowed_stays_in_texts(mask: Mask) -> None:
    schema = pa.schema([pa.field("mail", pa.string(), nullable=False)])
    given = pa.Table.from_arrays([pa.array([MAIL, None])], schema=schema)
    assert mask(given)["mail"].to_pylist()[1] is None
