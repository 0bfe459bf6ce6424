from dlpctl.texts.written import Written


def test_a_replacement_is_known_by_its_parts_and_neighbors() -> None:
    written = Written.of(["12-34", "5678", ""])
    text = "a 12-34 5678 b"
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            within = any(low <= start and end <= high for low, high in ((2, 7), (8, 12)))
            assert written.covers(text, start, end) is within
            beside = any(start < high and low < end for low, high in ((2, 7), (8, 12)))
            assert written.touches(text, start, end) is beside
