"""The declared resources: requests are read as their schemas say, and answers give what they declare."""

from __future__ import annotations

import pytest

from dlpctl.control.resources import OPERATIONS, RESOURCES, fields
from dlpctl.control.resources.shapes import Answer, Request
from dlpctl.control.service import ControlPlane
from dlpctl.errors import RequestError


class Part(Request):
    """A part of a request."""

    count: int = fields.integer(low=1, high=3)


class Sample(Request):
    """A request."""

    name: str = fields.line()
    parts: list[Part] = fields.array(Part, "parts", most=2)
    level: str = fields.missing(fields.one_of(("low", "high")), "low")
    note: str | None = fields.optional(fields.text(longest=5))


class Given(Answer):
    """An answer."""

    name: str = fields.text()
    key: str | None = fields.omitted(fields.text())
    secret: str = fields.internal()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ([], "the request must be a JSON object"),
        ({}, "name: is missing"),
        ({"nam": "a"}, "'nam': is not a field here; did you mean 'name'?"),
        ({"name": " ", "parts": []}, "name: must not be empty"),
        ({"name": "a", "parts": {}}, "parts: must be a list of parts"),
        ({"name": "a", "parts": [{}, {}, {}]}, "parts: must be a list of 0 to 2 parts"),
        ({"name": "a", "parts": [{"count": 1}, {"count": 4}]}, "parts[1].count: must be a whole"),
        ({"name": "a", "parts": [{"count": True}]}, "parts[0].count: must be a whole number"),
        ({"name": "a", "parts": [{"count": 1e999}]}, "parts[0].count: must be a whole number"),
        ({"name": "a", "parts": [{"count": 1, "x": 1}]}, "parts[0].'x': is not a field here"),
        ({"name": "a", "parts": [], "level": None}, "level: must be one of low, high"),
        ({"name": "a", "parts": [], "note": "longer"}, "note: is longer than 5 characters"),
    ],
)
def test_an_error_starts_with_the_path_of_the_field(body, said):
    with pytest.raises(RequestError) as caught:
        Sample.read(body)
    assert caught.value.message.startswith(said)


def test_parsed_requests_have_defaults_and_are_immutable():
    given = Sample.read({"name": " a ", "parts": [{"count": 2.0}]})
    assert (given.name, given.parts[0].count, given.level, given.note) == ("a", 2, "low", None)
    with pytest.raises(AttributeError):
        given.name = "b"


def test_an_answer_gives_the_fields_that_it_declares():
    assert Given("a", "k", secret="s").to_dict() == {"name": "a", "key": "k"}
    assert Given(secret="s", name="a").to_dict() == {"name": "a"}
    assert Given("a", secret="s") == Given(name="a", secret="s")
    assert Given.schema()["required"] == ["name"]
    assert "k" not in repr(Given("a", "k", secret="s"))
    with pytest.raises(TypeError, match="name"):
        Given(secret="s")


def test_every_operation_names_a_method_that_takes_what_it_declares(control: ControlPlane):
    import inspect
    from operator import attrgetter

    for operation in OPERATIONS.values():
        if not operation.does:
            continue
        signature = inspect.signature(attrgetter(operation.does)(control))
        has_credential = operation.credential.value is not None
        given = [None] * (has_credential + len(operation.parameters) + bool(operation.body))
        signature.bind(*given, **dict.fromkeys(operation.query))
    assert len(OPERATIONS) == sum(len(resource.operations) for resource in RESOURCES)
