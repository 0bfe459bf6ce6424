from dlpctl.texts.written import Written


def test_a_replacement_and_its_parts_were_written() -> None:
    written = Written.of(["12-34", "5678", ""])
    text = "a 12-34 5678 b"
    inside = [
        text[start:end]
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
        if written.is_within(text, start, end)
    ]
    assert "12-34" in inside
    assert "678" in inside
    assert all(part in "12-34" or part in "5678" for part in inside)
