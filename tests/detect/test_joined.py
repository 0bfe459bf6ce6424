"""Values over lines, cells and items, and values that are apart; dumps; more encodings."""

from __future__ import annotations

import base64
import json
import random

import pytest

from dlpctl.detect.engine import Detector

_AT = "2026-03-04T10:11:12.123456789Z"


@pytest.fixture(name="detector", scope="module")
def detector_fixture() -> Detector:
    return Detector().without_names()


@pytest.mark.parametrize(
    ("text", "value", "name"),
    [
        ("Card number: 4111 1111 1111\n1111 ok", "4111 1111 1111\n1111", "CREDIT_CARD"),
        ("the card 41111111\r\n  11111111", "41111111\r\n  11111111", "CREDIT_CARD"),
        ("> IBAN DE89 3704\n> 0044 0532 0130 00", "DE89 3704\n> 0044 0532 0130 00", "IBAN"),
        ("SSN: 536-90-\n4399", "536-90-\n4399", "SSN"),
        ("call +1 (612)\n913-4388", "+1 (612)\n913-4388", "PHONE"),
        ("write to jane.doe@\nacme.com", "jane.doe@\nacme.com", "EMAIL"),
        ("IBAN DE8937040\t0440532013000", "DE8937040\t0440532013000", "IBAN"),
        ("write to jane.doe\n@acme.com", "jane.doe\n@acme.com", "EMAIL"),
        ("jane.doe@acme-\ncorp.com", "jane.doe@acme-\ncorp.com", "EMAIL"),
        ("E-mail: jane.doe@ac\nme.com", "jane.doe@ac\nme.com", "EMAIL"),
        ("Mail address: jane.d\noe@acme.com", "jane.d\noe@acme.com", "EMAIL"),
        ('a,"4111 1111\n1111 1111",b', "4111 1111\n1111 1111", "CREDIT_CARD"),
        ("// card: 4111 1111\n// 1111 1111", "4111 1111\n// 1111 1111", "CREDIT_CARD"),
        ("# SSN: 536-90-\n# 4399", "536-90-\n# 4399", "SSN"),
        (" * to jane.doe@\n * acme.com", "jane.doe@\n * acme.com", "EMAIL"),
        ("+ssn: 536-90-\n+4399\n+email: x", "536-90-\n+4399", "SSN"),
        ('card = "4111 1111 " +\n  "1111 1111"', '4111 1111 " +\n  "1111 1111', "CREDIT_CARD"),
        ("('card', '4111 1111 ' || '1111 1111')", "4111 1111 ' || '1111 1111", "CREDIT_CARD"),
        (
            'msgid "card"\nmsgstr ""\n"4111 1111 "\n"1111 1111"',
            '4111 1111 "\n"1111 1111',
            "CREDIT_CARD",
        ),
        ("ssn: >-\n  536-90-\n  4399", "536-90-\n  4399", "SSN"),
        ("$card = 4111 1111`\n1111 1111", "4111 1111`\n1111 1111", "CREDIT_CARD"),
        ("|card|4111 1111 <br>1111 1111|", "4111 1111 <br>1111 1111", "CREDIT_CARD"),
        ("IBAN DE89\n3704 0044\n0532 0130 00 of her", "DE89\n3704 0044\n0532 0130 00", "IBAN"),
        ("Ring   (212)    555-0142 tonight", "(212)    555-0142", "PHONE"),
        (
            "paid into account\r\nDE89 3704 0044\r\n0532 0130 00",
            "DE89 3704 0044\r\n0532 0130 00",
            "IBAN",
        ),
        ("IBAN DE89 3704\n0044  0532 0130 00.", "DE89 3704\n0044  0532 0130 00", "IBAN"),
        ("card = `4111 1111 ` +\n  `1111 1111`", "4111 1111 ` +\n  `1111 1111", "CREDIT_CARD"),
        ("card = '4111 1111 ' '1111 1111'", "4111 1111 ' '1111 1111", "CREDIT_CARD"),
        ('ssn = "536-90-" & _\n  "4399"', '536-90-" & _\n  "4399', "SSN"),
        ("her card 4111 1111 &\n  & 1111 1111", "4111 1111 &\n  & 1111 1111", "CREDIT_CARD"),
        ("1 NOTE card 4111 1111\n2 CONC 1111 1111", "4111 1111\n2 CONC 1111 1111", "CREDIT_CARD"),
        ('[label="card 4111 1111\\n1111 1111"]', "4111 1111\\n1111 1111", "CREDIT_CARD"),
        ("Card: 4111 1111\r1111 1111", "4111 1111\r1111 1111", "CREDIT_CARD"),
        ("Card: 4111 1111\x851111 1111", "4111 1111\x851111 1111", "CREDIT_CARD"),
        ("Card: 4111 1111\u20281111 1111", "4111 1111\u20281111 1111", "CREDIT_CARD"),
        ("Card: 4111 1111\n\f1111 1111", "4111 1111\n\f1111 1111", "CREDIT_CARD"),
        ('msg="card 4111 1111\\\\n1111 1111"', "4111 1111\\\\n1111 1111", "CREDIT_CARD"),
        ("app: card 4111 1111#0121111 1111", "4111 1111#0121111 1111", "CREDIT_CARD"),
        ("<p>card 4111 1111{' '}\n1111 1111", "4111 1111{' '}\n1111 1111", "CREDIT_CARD"),
        (
            "10:11:12 INFO card 4111 1111\n10:11:12 INFO 1111 1111\n10:11:13 INFO done",
            "4111 1111\n10:11:12 INFO 1111 1111",
            "CREDIT_CARD",
        ),
        ("    9\tssn 536-90-\n   10\t4399\n   11\tok", "536-90-\n   10\t4399", "SSN"),
        ("/// to jane.doe@\n/// acme.com", "jane.doe@\n/// acme.com", "EMAIL"),
        (
            "JD> IBAN DE89\nJD> 3704 0044\nJD> 0532 0130 00 x",
            "DE89\nJD> 3704 0044\nJD> 0532 0130 00",
            "IBAN",
        ),
        (
            'b.append("card 4111 1111");\nb.append("1111 1111");',
            '4111 1111");\nb.append("1111 1111',
            "CREDIT_CARD",
        ),
        ("card = '4111 1111 ' .. '1111 1111'", "4111 1111 ' .. '1111 1111", "CREDIT_CARD"),
        ('ssn = ["536-90-", "4399"]', '536-90-", "4399', "SSN"),
        ("write('jane.doe' + '@' + 'acme.com')", "jane.doe' + '@' + 'acme.com", "EMAIL"),
        (
            '[{"text": "card 4111 1111 "}, {"b": {"c": 1}, "text": "1111 1111"}]',
            '4111 1111 "}, {"b": {"c": 1}, "text": "1111 1111',
            "CREDIT_CARD",
        ),
        (
            '[{"content": "jane@", "plain_text": "jane@"}, {"content": "acme.com", "a": "b"}]',
            'jane@", "plain_text": "jane@"}, {"content": "acme.com',
            "EMAIL",
        ),
        (
            '["card ", {"text": "4111 1111 "\n },\n "1111 1111"]',
            '4111 1111 "\n },\n "1111 1111',
            "CREDIT_CARD",
        ),
        (
            "<dt>card</dt><dd>4111 1111</dd><dd>1111 1111",
            "4111 1111</dd><dd>1111 1111",
            "CREDIT_CARD",
        ),
        ("<p>card 4111 1111</p>\n<p>1111 1111", "4111 1111</p>\n<p>1111 1111", "CREDIT_CARD"),
        (
            "<td>IBAN DE89 3704</td><td>0044 0532 0130 00",
            "DE89 3704</td><td>0044 0532 0130 00",
            "IBAN",
        ),
        ("<li>536-90-</li><li>4399</li> is her ssn", "536-90-</li><li>4399", "SSN"),
        ("her card 4111  1111 1111  1111", "4111  1111 1111  1111", "CREDIT_CARD"),
        ("ssn 536-90-\t4399 ok", "536-90-\t4399", "SSN"),
        ("to jane.doe@  acme.com", "jane.doe@  acme.com", "EMAIL"),
        ("ssn 536-90-\n4399\n2026-01-02 ok", "536-90-\n4399", "SSN"),
        ("OBX|card||4111 1111\\.br\\1111 1111", "4111 1111\\.br\\1111 1111", "CREDIT_CARD"),
        ("$card = '4111 1111 ' + `\n  '1111 1111'", "4111 1111 ' + `\n  '1111 1111", "CREDIT_CARD"),
        ("card 4111 1111 [-0-]{+1111 1111+}", "4111 1111 [-0-]{+1111 1111", "CREDIT_CARD"),
        (r"PID|card 41111111\X2D\11111111", r"41111111\X2D\11111111", "CREDIT_CARD"),
        (
            f"{_AT} stdout P card 4111 11\n{_AT} stdout F 11 1111 1111 x",
            f"4111 11\n{_AT} stdout F 11 1111 1111",
            "CREDIT_CARD",
        ),
        (
            " 1 | card 4111 11  .\n   |.11 1111 1111\n",
            "4111 11  .\n   |.11 1111 1111",
            "CREDIT_CARD",
        ),
        (
            ":86:166?20IBAN DE8937?21040044053201?223000?30X\n",
            "DE8937?21040044053201?223000",
            "IBAN",
        ),
        (
            ":86:166?20SVWZ+X?30DEUTDEFF?31DE89370400440532013000?32X\n",
            "DE89370400440532013000",
            "IBAN",
        ),
        ("<S>to jane.doe_x0040_acme.com</S>", "jane.doe_x0040_acme.com", "EMAIL"),
    ],
)
def test_a_broken_value_is_found(detector: Detector, text: str, value: str, name: str) -> None:
    found = {(one.type, text[one.start : one.end]) for one in detector.scan(text)}
    assert (name, value) in found


_KEY = "AKIA" + "".join(random.Random(7).choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=16))
_FULL_LINE = "$ echo words of a command && key="


@pytest.mark.parametrize(
    ("before", "joint"),
    [
        (_FULL_LINE, "\n"),
        (f"src/a.py:9:# {_FULL_LINE}", "\nsrc/a.py:10:# "),
        (f"web-1  | {_FULL_LINE}", "\nweb-1  | "),
        (f" * {_FULL_LINE}", "\n * "),
        ("the key is ", "=\r\n"),
        ("key = '", "' +\n    '"),
        ('key = "', '" "'),
        ("| key || ", "'''"),
    ],
)
def test_a_broken_key_is_found(detector: Detector, before: str, joint: str) -> None:
    text = f"{before}{_KEY[:10]}{joint}{_KEY[10:]}\n"
    secrets = detector.for_types(["SECRETS"])
    for each in (detector, secrets):
        assert _KEY in {text[one.start : one.end].replace(joint, "") for one in each.scan(text)}


@pytest.mark.parametrize(
    "text",
    [
        f"key = {_KEY[:10]}\n{_KEY[10:]}\n",  # not a full line
        f'"Roe";"sk_live_{_KEY}"\n"Beta";"x"\n',
        f"{_FULL_LINE}{_KEY[:10]}\n{_KEY}\n",
        f"{_FULL_LINE}{_KEY[:10]}\n{_KEY[10:]} = 1\n",
    ],
)
def test_a_line_after_a_key_is_no_part_of_it(detector: Detector, text: str) -> None:
    assert not [one for one in detector.scan(text) if "\n" in text[one.start : one.end]]


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111\n1111 1111\n",  # a column of numbers
        "card\r4111 1111\r1111 1111\r",
        "1,x,41111111\n11111111,y,2\n",  # cells of two rows
        "/// 4111 1111\n/// 1111 1111\n",
        "10:11 size 4111 1111\n10:11 size 1111 1111\n",
        "2024-05-01 took 4111\n2024-05-01 took 1111\n",
        "7344 3976\n7345 3b62\n734e 734f 6052\n7357 6055\n7363 3d43\n7368 6057\n7370 6058\n",
        "'V2\n71360\n71370',\n'V4\n6480\n6510\n6512\n6517',\n'V6\n10\n2673\n2674\n70199\n72344',\n",
        "see pages 4111 1111 1111\n\n1111 more",
        "# 4111 1111\n# 1111 1111\n",
        'card,"4111 1111"\n"1111 1111",x\n',
        "cards = [\n  '4111 1111',\n  '1111 1111',\n]\n",
        "* card 4111\n* card 1111 1111 1111\n",
        "cards = [\"4111 1111\", '1111 1111']",
        "<tr><td>4111 1111</td>\n<td>1111 1111</td></tr>",
        '[{"text": "4111 1111"}, {"text": "1111 1111"}]',
        'card = {"text": "4111 1111"}, {"text": "1111 1111"}',
        "f('+3.25'), 3.25\nf('-3.25'), g('-0.0')",
        "(\"login_url\", '@tornado.web')",
        "def function\n@pytest.mark.parametrize",
        "mail the staff@\n\nacme.com",
        "@pytest.mark.slow\n@pytest.mark.network",
        "according to test_api\n@app.command",
        '{"text": "to jane.doe@acme.com.",\n  "blocks": []}',
        "| a | b |\n+===+===+\n| 1 | jane_d@acme.com |\n| 2 | jo_r@acme.com |\n+===+===+\n",
        "cards of x 4111  1111 1111  1111\ncards of y 4111  1111 1112  1111\n",
    ],
)
def test_what_is_between_values_joins_nothing(detector: Detector, text: str) -> None:
    found = [text[one.start : one.end] for one in detector.scan(text)]
    assert not [value for value in found if set(value) & set("\n\r\"'<")]


_GRID = "+---+---+\n| a | b |\n+===+===+\n"
_RULE = "=====  =========  ====\n"


@pytest.mark.parametrize(
    ("text", "value", "name"),
    [
        (
            f"{_GRID}| 4111 1111 | x |\n| 1111 1111 | y |\n",
            "4111 1111 | x |\n| 1111 1111",
            "CREDIT_CARD",
        ),
        ("| ssn | 536-90- |\n|     | 4399    |\n", "536-90- |\n|     | 4399", "SSN"),
        ("│ to │ jane@ │\n│    │ acme.com │\n", "jane@ │\n│    │ acme.com", "EMAIL"),
        (
            f"{_RULE}kärte  4111 1111  x\n       1111 1111  y\n{_RULE}",
            "4111 1111  x\n       1111 1111",
            "CREDIT_CARD",
        ),
        (
            f"{_GRID}| 4111 1111 | jane@ |\n| 1111 1111 | acme.com |\n",
            "4111 1111 | jane@ |\n| 1111 1111 | acme.com",
            "CREDIT_CARD",
        ),
        (
            " card | 4111 1111 +| x\n      | 1111 1111  | \n",
            "4111 1111 +| x\n      | 1111 1111",
            "CREDIT_CARD",
        ),
        (" ssn | 536-90-.| x\n     |.4399    | ", "536-90-.| x\n     |.4399", "SSN"),
        (
            "her card 4111 1111   some more\n1111 1111            of text\n",
            "4111 1111   some more\n1111 1111",
            "CREDIT_CARD",
        ),
        (
            "ünlike this   IBAN DE89 3704\nor that too   0044 0532\nof text       0130 00\n",
            "DE89 3704\nor that too   0044 0532\nof text       0130 00",
            "IBAN",
        ),
        (
            "# card 4111 1111    #\n# 1111 1111         #\n",
            "4111 1111    #\n# 1111 1111",
            "CREDIT_CARD",
        ),
        (
            " card:    +| x\n 4111 1111+| \n 1111 1111 | \n",
            "4111 1111+| \n 1111 1111",
            "CREDIT_CARD",
        ),
        ("value | jane@+\n      | acme.com\n", "jane@+\n      | acme.com", "EMAIL"),
        ("|===\n|ssn\n|536-90-\n4399\n", "536-90-\n4399", "SSN"),
        ("   * - ssn\n     - 536-90-\n       4399\n", "536-90-\n       4399", "SSN"),
        ("to jane@    as said\nacme.com    above\n", "jane@    as said\nacme.com", "EMAIL"),
        ("card,4111,1111,1111,1111\n", "4111,1111,1111,1111", "CREDIT_CARD"),
        ("card = [4111, 1111, 1111, 1111]", "4111, 1111, 1111, 1111", "CREDIT_CARD"),
        ("| amex | 3782 | 822463 | 10005 |\n", "3782 | 822463 | 10005", "CREDIT_CARD"),
        ("a;card;;;\nx;1;2;3;4\ny;4111;1111;1111;1111\n", "4111;1111;1111;1111", "CREDIT_CARD"),
        ("4111\t1111\t1111\t1111\n" * 3, "4111\t1111\t1111\t1111", "CREDIT_CARD"),
        ("a,ssn1,ssn2,ssn3\nx,536,90,4399\n", "536,90,4399", "SSN"),
        ('{"ssn": [\n  "536",\n  "90",\n  "4399"\n]}', '536",\n  "90",\n  "4399', "SSN"),
        ("['4111', '1111', '1111', '1111']", "4111', '1111', '1111', '1111", "CREDIT_CARD"),
        (
            '"DE89","3704","0044","0532","0130","00"',
            'DE89","3704","0044","0532","0130","00',
            "IBAN",
        ),
        ("x,DE89,3704,0044,0532,0130,00\n", "DE89,3704,0044,0532,0130,00", "IBAN"),
        ("a,b,c\n+1,(612),913-4388\n", "+1,(612),913-4388", "PHONE"),
        ("her card number is 4111/1111/1111/1111", "4111/1111/1111/1111", "CREDIT_CARD"),
        (
            "<input name='ssn1' value='536'> <input name='ssn2' value='90'><input value='4399'>",
            "536'> <input name='ssn2' value='90'><input value='4399",
            "SSN",
        ),
        ("ssn:\n  - '536'\n  - '90'\n  - '4399'\n", "536'\n  - '90'\n  - '4399", "SSN"),
        (
            "<p>card</p><ul><li>4111</li><li>1111</li> <li>1111</li><li>1111</li></ul>",
            "4111</li><li>1111</li> <li>1111</li><li>1111",
            "CREDIT_CARD",
        ),
        ("Card number:\n4111\n1111\n1111\n1111\nok", "4111\n1111\n1111\n1111", "CREDIT_CARD"),
        ("DE89\n3704\n0044\n0532\n0130\n00\n", "DE89\n3704\n0044\n0532\n0130\n00", "IBAN"),
        ("Karte: 4111 - 1111 - 1111 - 1111", "4111 - 1111 - 1111 - 1111", "CREDIT_CARD"),
        (
            "card1 = 4111\ncard2 = 1111\ncard3 = 1111\ncard4 = 1111\n",
            "4111\ncard2 = 1111\ncard3 = 1111\ncard4 = 1111",
            "CREDIT_CARD",
        ),
        ("GET /?ssn1=536&ssn2=90&ssn3=4399", "536&ssn2=90&ssn3=4399", "SSN"),
        ("ssn[0]=536\nssn[1]=90\nssn[2]=4399\n", "536\nssn[1]=90\nssn[2]=4399", "SSN"),
        (
            '<b>ssn</b><input maxlength="3" value="536"><input value="90"><input value="4399">',
            '536"><input value="90"><input value="4399',
            "SSN",
        ),
        (
            '{"ssn_a": "536", "ssn_b": "90", "ssn_c": "4399"}',
            '536", "ssn_b": "90", "ssn_c": "4399',
            "SSN",
        ),
        ("her IBAN DE89.3704.0044.0532.0130.00", "DE89.3704.0044.0532.0130.00", "IBAN"),
    ],
)
def test_a_value_in_several_cells_is_found(
    detector: Detector, text: str, value: str, name: str
) -> None:
    assert (name, value) in {(one.type, text[one.start : one.end]) for one in detector.scan(text)}


@pytest.mark.parametrize(
    "text",
    [
        "340,725,218,267,210,70",
        "| a | 4111 1111 |\n| b | 1111 1111 |\n",  # cells of two rows
        "+-+\n| a |\n+-+\n| 4111 1111 |\n| 1111 1111 |\n+-+\n",
        f"{_RULE}a      4111 1111  x\nb      1111 1111  y\n{_RULE}",
        "cards of x  4111 1111  y\ncards of z  1111 1111  y\n",
        "cards of x 4111 1111  y\n\n           1111 1111  y\n",
        "of x\tcard 4111 1111\tivy\n1111 1111\tof y\toak\n",
        "4111,1111,1111,1111\n",
        "4111\n1111\n1111\n1111\n" * 4,
        "4111,1111,1111,1111\n" * 3 + "4111,1111,1111,1112\n",
        "card,year,low,high\n4111,1111,1111,1111\n",
        "cards 1 to 9: 4111,1111,1111,1111\n",
        "a,b,c\n536,90,4399\n",
        '"2015","2016","2017","2018","2019"',
        "AB12,3704,0044,0532,0130,00\n",
        "release 4111.1111.1111.1111 of 2024",
        "52,49,49,49,200,49,49,49,52,52\n",
        "signs = [" + "',', " * 9 + "]",
        "pixels = [10, 20, 30, 34, 40, 50, 60, 34, 70, 80]",
        "signs = ['(', ')', ',', ';', ':', '[', ']', '{', '}', '.']",
    ],
)
def test_cells_of_their_own_are_no_value(detector: Detector, text: str) -> None:
    assert not detector.scan(text)


_BYTES = b"her card is 4111 1111 1111 1111 today"


def _od(form: str, size: int = 1, offset: str = "{:07o}") -> list[str]:
    """Return the rows of a dump of the bytes as numbers of a size, the lowest byte first."""
    return [
        offset.format(row)
        + "".join(
            form.format(int.from_bytes(_BYTES[at : at + size], "little"))
            for at in range(row, min(row + 16, len(_BYTES)), size)
        )
        for row in range(0, len(_BYTES), 16)
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [f"{at:08x}  {_BYTES[at:at+8].hex(' ')}  {_BYTES[at+8:at+16].hex(' ')}  |...|" for at in (0, 16, 32)],
        [f"{at:08x}: {_BYTES[at:at+16].hex(' ', -2)}  ...." for at in (0, 16, 32)],
        [f"0x7ffe{at:04x}:\t0x{_BYTES[at:at+8].hex(' ').replace(' ', chr(9) + '0x')}" for at in range(0, 37, 8)],
        _od(" {:04x}", 2),
        _od(" {:016x}", 8),
        _od(" {:06o}", 2),
        _od(" {:03o}"),
        _od(" {:5}", 2),
        _od(" {:4}"),
        _od("   {:c}"),
        _od("   {:c}", offset=""),
        _od(" {:02x}", offset=""),
        _od("{:02x}", offset=""),
        [f":10{at:04x}00{_BYTES[at:at+16].hex()}00" for at in (0, 16, 32)],
        [f"S113{at:04X}{_BYTES[at:at+16].hex().upper()}00" for at in (0, 16, 32)],
    ],
    ids=["hexdump", "xxd", "gdb", "od -x", "od -t x8", "od", "od -b", "od -d", "od -t d1", "od -c", "od -An -c", "od -An -t x1", "xxd -p", "Intel HEX", "S-records"],
)  # fmt: skip
def test_a_dump_is_one_value(detector: Detector, rows: list[str]) -> None:
    text = "memory:\n" + "\n".join(rows) + "\nend\n"
    (found,) = detector.scan(text)
    assert (found.type, text[: found.start], text[found.end :]) == (
        "CREDIT_CARD",
        "memory:\n",
        "end\n",
    )


_PIECES = [base64.b64encode(_BYTES * 3).decode()[at : at + 60] for at in range(0, 148, 60)]


def test_a_table_of_numbers_is_no_dump_of_bytes(detector: Detector) -> None:
    codes = ["9F3A 8DE1"] * 20
    label = b"passwd: Tr4vel!Mug779 ".hex(" ", 2).upper()
    rows = " ".join([*codes, label, *codes]).split(" ")
    table = "\n".join(" ".join(rows[at : at + 10]) for at in range(0, len(rows), 10))
    assert detector.scan(f"__DATA__\n{table}\n__END__\n") == []


@pytest.mark.parametrize("number", ["{:6}\t", "{:6}→", "{}:"])
@pytest.mark.parametrize("rows", [_od("   {:c}"), _od(" {:02x}"), _PIECES])
def test_a_dump_in_a_numbered_listing_is_one_value(
    detector: Detector, number: str, rows: list[str]
) -> None:
    text = "".join(f"{number.format(at)}{row}\n" for at, row in enumerate(["of it", *rows], 8))
    (found,) = (one for one in detector.scan(text) if one.type == "CREDIT_CARD")
    assert text[found.start : found.end].strip() == text[text.index(rows[0]) :].strip()


@pytest.mark.parametrize(
    ("start", "between", "end"),
    [
        ('data = (\n  "', '"\n  "', '")'),
        ('["', '", "', '"]'),
        ("", " ", "\n"),
        ("10:11 DEBUG ", "\n10:12 DEBUG ", "\n"),
        ("> ", "\n> ", "\n"),
    ],
    ids=["strings", "array", "blanks", "log", "quotation"],
)
def test_chunks_of_data_are_one_value(
    detector: Detector, start: str, between: str, end: str
) -> None:
    text = start + between.join(_PIECES) + end
    assert (len(start), len(text) - len(end)) in {
        (one.start, one.end) for one in detector.scan(text) if one.type == "CREDIT_CARD"
    }


_IN_LINE = base64.b64encode(b"of " + _BYTES + b" it").decode().rstrip("=")
_IN_BINARY = base64.b64encode(b"\x30\x82\x01\x0a\x00" + _BYTES + bytes(range(128, 150))).decode()


_CONCEALED = bytes([7, *(byte ^ 7 for byte in b"jane.doe@acme.com")]).hex()


_ENCODED_WORDS = "?=\n =?utf-8?B?".join(
    base64.b64encode(part).decode() for part in (_BYTES[:20], _BYTES[20:])
)


def _codes(form: str, after_comma: str = "") -> str:
    return f",{after_comma}".join(map(form.format, _BYTES))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("card=4111+1111+1111+1111&a=b", "4111+1111+1111+1111"),
        ("ssn = '536\\x2d90\\x2d4399'", "536\\x2d90\\x2d4399"),
        ("card = '41111111\\x2d11111111'", "41111111\\x2d11111111"),
        ("VALUES (0x34313131313131313131313131313131)", "0x34313131313131313131313131313131"),
        ("to jane.doe+AEA-acme.com", "jane.doe+AEA-acme.com"),
        ("ssn 5\b53\b36\b6-9\b90\b0-_\b4399 ok", "5\b53\b36\b6-9\b90\b0-_\b4399"),
        ("x = 4111111111111111L", "4111111111111111L"),
        ("=?utf-8?Q?4111=201111=201111=201111?=", "4111=201111=201111=201111"),
        ('=CONCAT of "4111"&"1111"&"1111"&"1111"', '4111"&"1111"&"1111"&"1111'),
        ("ssn 536·90·4399", "536·90·4399"),
        ("ssn ⁵³⁶-⁹⁰-⁴³⁹⁹", "⁵³⁶-⁹⁰-⁴³⁹⁹"),
        ("tel ๐๘๑-๒๓๔-๕๖๗๘", "๐๘๑-๒๓๔-๕๖๗๘"),
        ("x = 4111_1111_1111_1111", "4111_1111_1111_1111"),
        ("card 4111 <b>1111</b> 1111 1111", "4111 <b>1111</b> 1111 1111"),
        ("card 4111 {+1111 1111+} 1111", "4111 {+1111 1111+} 1111"),
        ("'jane.doe' || CHR(64) || 'acme.com'", "jane.doe' || CHR(64) || 'acme.com"),
        ("to jane.doe@@acme.com", "jane.doe@@acme.com"),
        ("to jane.doe&amp;#64;acme.com", "jane.doe&amp;#64;acme.com"),
        ("card 4111 [i]1111[/i] 1111 1111", "4111 [i]1111[/i] 1111 1111"),
        ("card 4111 `1111` 1111 1111", "4111 `1111` 1111 1111"),
        ("4111&thinsp;1111&ensp;1111&ndash;1111", "4111&thinsp;1111&ensp;1111&ndash;1111"),
        (
            "to jane.doe<span style='display:none'>x</span>@acme.com",
            "jane.doe<span style='display:none'>x</span>@acme.com",
        ),
        ("<em>jane</em>@<em>acme</em>.<em>com</em>", "jane</em>@<em>acme</em>.<em>com"),
        ("Duplicate entry 'jane.doe@acme.com-7' for key 'a'", "jane.doe@acme.com"),
        (f"X'{b'DE89 3704 0044 0532 0130 00'.hex()}'", b"DE89 3704 0044 0532 0130 00".hex()),
        ("card 4111 <!-- x -->1111 1111 1111", "4111 <!-- x -->1111 1111 1111"),
        ("card 4111 ~~1111~~ 1111 1111", "4111 ~~1111~~ 1111 1111"),
        ("card _4111 1111 1111 1111_ x", "_4111 1111 1111 1111_"),
        ("card 4111 1111 1111 _1111_ x", "4111 1111 1111 _1111_"),
        (f"card [4{'][1' * 15}]", "4" + "][1" * 15),
        (f"card |4{'|1' * 15}|", "4" + "|1" * 15),
        ("card=4111\\ 1111\\ 1111\\ 1111", "4111\\ 1111\\ 1111\\ 1111"),
        ("to __jane.doe@acme.com__ now", "__jane.doe@acme.com__"),
        ("card 4111 *_1111_* 1111 1111", "4111 *_1111_* 1111 1111"),
        ("ssn *536-90-* /4399/ ok", "536-90-* /4399"),
        ("card 4111 =1111= 1111 1111", "4111 =1111= 1111 1111"),
        ("card '''4111''' 1111 1111 1111", "4111''' 1111 1111 1111"),
        ("card **4111** **1111** **1111** **1111**", "4111** **1111** **1111** **1111"),
        ("card 4111 \x1b[1C\x1b[0K1111 1111 1111", "4111 \x1b[1C\x1b[0K1111 1111 1111"),
        (
            "card 4111 \x1b]8;;x:\x071111\x1b]8;;\x07 1111 1111",
            "4111 \x1b]8;;x:\x071111\x1b]8;;\x07 1111 1111",
        ),
        ("card 4111 ^[[31m1111^[[0m 1111 1111", "4111 ^[[31m1111^[[0m 1111 1111"),
        ("card 4111 \\033[1m1111\\033[0m 1111 1111", "4111 \\033[1m1111\\033[0m 1111 1111"),
        ("card\n4111111111111111.0\n", "4111111111111111.0"),
        ("card\n4111111111111111.000000\n", "4111111111111111.000000"),
        ("card\n4.111111111111111E+15\n", "4.111111111111111E+15"),
        ("card\n3.78282246310005e14\n", "3.78282246310005e14"),
        ("card: 4,111,111,111,111,111", "4,111,111,111,111,111"),
        ("card: 4.111.111.111.111.111", "4.111.111.111.111.111"),
        ("card: 4'111'111'111'111'111", "4'111'111'111'111'111"),
        ("card: 0004111111111111111", "0004111111111111111"),
        (f"COPY t\n1\t\\\\x{_BYTES.hex()}\n", f"\\\\x{_BYTES.hex()}"),
        (
            f"VALUES (0x{_BYTES.decode().encode('utf-16-le').hex()})",
            f"0x{_BYTES.decode().encode('utf-16-le').hex()}",
        ),
        (f"Subject: =?utf-8?B?{_ENCODED_WORDS}?=\n", _ENCODED_WORDS),
        (f"x: {_BYTES.hex('-')} y", _BYTES.hex("-")),
        (f"b'\\x10{_KEY}\\x00'", _KEY),
        (f"a: {_IN_LINE}\nSet-Cookie: a\n", _IN_LINE),
        (f"String.fromCharCode({_codes('{}')})", _codes("{}")),
        (f'"a"=hex(1):{_codes("{:02x},00")},00,00', f"{_codes('{:02x},00')},00,00"),
        (
            f'"a"=hex(1):{_codes("{:02x},00", chr(92) + chr(10) + "  ")}',
            _codes("{:02x},00", "\\\n  "),
        ),
        (f"char a[] = {{{_codes('0x{:02x}', ' ')}}};", _codes("0x{:02x}", " ")),
        (f'<a data-cfemail="{_CONCEALED}">', _CONCEALED),
        (f"href=/cdn-cgi/l/email-protection#{_CONCEALED}", _CONCEALED),
        (f"x = {_codes('{}').replace(',', ' ')} y", _codes("{}").replace(",", " ")),
        (f"x = {_codes('0x{:02x}').replace(',', ' ')} y", _codes("0x{:02x}").replace(",", " ")),
        (f"x = {_codes('Chr({})').replace(',', ' & ')}", _codes("Chr({})").replace(",", " & ")),
        (f"x = {_codes('{:08b}').replace(',', ' ')} y", _codes("{:08b}").replace(",", " ")),
        (f"cert: {_IN_BINARY}\n", _IN_BINARY),
        (f"data: {_IN_BINARY[:64]}\n{_IN_BINARY[64:]}\n", f"{_IN_BINARY[:64]}\n{_IN_BINARY[64:]}"),
        (
            f"x: {base64.b64encode(_IN_BINARY.encode()).decode()}",
            base64.b64encode(_IN_BINARY.encode()).decode(),
        ),
    ],
)
def test_further_encodings_are_looked_through(detector: Detector, text: str, value: str) -> None:
    assert value in {text[one.start : one.end] for one in detector.scan(text)}


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ('data: {"choices":[{"delta":{"content":', "}}]}\n\n"),
        ('[0.5, "o", ', "]\n"),
        ('{"type":"send","time":1.5,"data":', "},"),
    ],
    ids=["model", "terminal", "sockets"],
)
def test_a_streamed_value_is_found(detector: Detector, start: str, end: str) -> None:
    words = [_BYTES.decode()[at : at + 3] for at in range(0, len(_BYTES), 3)]
    text = "".join(f"{start}{json.dumps(word)}{end}" for word in words)
    (found,) = detector.scan(text)
    shown = text[: found.start] + text[found.end :]
    assert found.type == "CREDIT_CARD"
    assert not any(digit in shown.replace("0.5", "").replace("1.5", "") for digit in "14")


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ('{"word": "', '", "start": 0.5},'),
        ('{"word": "', '", "punctuated": "A"}, {"speaker": "B"}, '),
        ("<String HPOS='3' CONTENT='", "'/><SP/>"),
        ('<word xMin="2.5">', "</word>\n"),
        ("", " O\n"),
        ("1\t", "\tx\tNN\t_\n"),
        ("a 1 0.5 0.2 ", " 0.9\n"),
        ("5\t1\t1\t1\t2\t3\t40\t50\t60\t7\t96.5\t", "\n"),
    ],
    ids=["speech", "speakers", "ALTO", "pdftotext", "entities", "CoNLL", "times", "tesseract"],
)
def test_a_value_in_recognized_words_is_found(detector: Detector, start: str, end: str) -> None:
    words = _BYTES.decode().split()
    text = "".join(f"{start}{word}{end}" for word in words)
    value = f"{end}{start}".join(words[3:7])
    assert value in {text[one.start : one.end] for one in detector.scan(text)}


@pytest.mark.parametrize(
    ("label", "start", "end"),
    [
        ('{"text": "a"}, {"text": ":"}, {"is": "blank"}', '{"text": "', '"}, '),
        (": 1 2 3 4 0\n", "", " 1 2 3 4 0\n"),
        ("card number\n", "", "\n"),
        ("<b>card</b> ", "<i class=a>", "</i>\n"),
        ("<b>card</b> ", '<input name="a" value="', '">'),
    ],
    ids=["symbols", "boxes", "lines", "elements", "inputs"],
)
def test_a_value_in_characters_of_their_own_is_found(
    detector: Detector, label: str, start: str, end: str
) -> None:
    (found,) = detector.scan(label + "".join(f"{start}{each}{end}" for each in "4111111111111111"))
    assert found.type == "CREDIT_CARD"


def test_a_value_in_the_chunks_of_a_body_is_found(detector: Detector) -> None:
    chunks = "".join(f"5\r\n{_BYTES.decode()[at : at + 5]}\r\n" for at in range(0, 35, 5))
    text = f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\r\n\r\n{chunks}0\r\n\r\n"
    values = [text[one.start : one.end].replace("\r\n5\r\n", "") for one in detector.scan(text)]
    assert "4111 1111 1111 1111" in values


def test_records_are_no_stream(detector: Detector) -> None:
    numbers = ["4111", "1111", "1111", "1111", "12"]
    assert not detector.scan("".join(f'{{"v": "{number}"}}\n' for number in numbers))
