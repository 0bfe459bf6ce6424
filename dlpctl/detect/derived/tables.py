"""The header of a column as the label of each value in it: CSV, Markdown, HTML, fixed columns,
INSERT statements.

A header may stand far above its value. Where one says what may be sensitive, a second text is made
in which each cell of that column stands behind its header, as `header: cell`, and what is found
there is reported where the cell is.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from dlpctl.detect.linear import Find, compile_regex, finders
from dlpctl.detect.resolve import Candidate, cannot_beat, rank
from dlpctl.regex import lazy

_SENSITIVE_TEXT = """
    aadhaar aadhar aaid aba abha ablaufdatum abn account acct ach acn address adoazonosito advertising
    adóazonosító adószám afm african age ahv ajokortti alberta alter alv amex amka annual arzt asmens
    ausweis ayushman balance bank benutzername betriebsstättennummer bic bilhete billing birth bitcoin
    bloedgroep blood blutdruck blutgruppe bmi born bsb bsn bsnr btw burgerservicenummer bvn cadastro
    card carnet carné carta carte cartão cccd ceam cedula cell celular cep chart chassi chi cholesterol
    cie cif cin citizen civil clabe cmnd cnh cni cnic cnp cnpj cns codice compte condition conduc conta
    conto contraseña contribuinte coord cpf cpr cpt credential credit crn ctc cuenta cui cuil cuit curp
    cvc cvv cyprus cédula código dea device diagnos dic dič dl dln dni dob documento dowod dowód dpi
    driver driving drug dui dva edad egn ehic ein election email embg emirates employer epic ethereum
    ethernet exp expir fahrgestell fax fico fin fiscale fnr fodselsnummer fuehrerschein fuhrerschein
    fødselsnummer førerkort führerschein fürerschein gaid geburt gehalt geo glucose gps handset handy
    hba1c hcn health heart hetu hicn hkid hospital hsn iban ic icd ico identifikationsnummer
    identiteitsnommer identity idfa idfv idnp idnr ifsc ihi iin imei immatriculation immun imsi imss
    income inn insee insurance ip iqama ird isikukood itin iva ičo jmbg karte kennitala kennzeichen
    kenteken kenya key kimlik konto koordinaten kt ktp kvnr körkort kørekort lab lanr lat licen login
    lohn loinc lon mac maestro mail maltese matricula matricule matrícula mauritius medicaid medical
    medicare medication meid member mobil mrn my_number mykad móvil nacido nacimiento naissance nas
    nascimento nascita national ndc nhi nhs nic nid nie nif nik nin nino nip nipc nir nis nit npi nric
    nss numero nummer numéro né née número obcansky občanský oib organisasjonsnummer organisationsnummer
    orgnr osobni paciente pan partita pasaporte paspoort passaporto passeport passnummer passport passwd
    password passwort paszport patente patient paziente pcn permis perso pesel philsys phin phn phone
    pin pis piva placa plaque plate plz policy postal postcode pps ppsn prescri pressure procedure
    provider psn pulse pwd qid ramq rcs reg_no registration registro regon reisepass resident rfc rg rif
    rijbewijs rijksregisternummer rnokpp rodne rodné routing rrn rtn ruc rufnummer rut salaire salario
    salary saldo savings schufa secret secu seed senha sin siren siret snils social sofi sort_code
    sozialversicherungsnummer spi ssn steuer stipendio sueldo sv svnr swift szemelyi személyi sécurité
    taj targa tarjeta tax tckn tel telefon teléfono tessera tfn tin titulo token tsi tva téléphone
    título ubn ucid uen uid umid unique user ust ustid utr valid vantage vehicle velocity versicher
    veterans vin visa vitals vkn vnr voter wage wallet wire zip âge αμκα αφμ ταυτότητα τηλέφωνο егн иин
    инн пинфл рнокпп снилс телефон ח.פ תעודת رقم کد आधार บัตร เลข マイナンバー 手机 电话 統一編號 身份证 身分證 電話 사업자 전화 주민
    휴대폰
    """
_SENSITIVE = "|".join(re.escape(word) for word in _SENSITIVE_TEXT.split())
_WORD = r"[A-Za-z_#\x{A1}-\x{10FFFF}][\w\x{A1}-\x{10FFFF}.#/()'-]*"
_CELL = rf"""["'`]?{_WORD}(?: {_WORD})*["'`]?"""
_BLANK = r"[ \t]*"
HEADER = (
    rf"(?mi:^(?:\|{_BLANK}{_CELL}{_BLANK}(?:\|{_BLANK}{_CELL}{_BLANK})*\|?|{_CELL}(?:{_BLANK}[,;|]{_BLANK}{_CELL})+|{_CELL}(?:\t+{_CELL})+"
    rf"|{_WORD}(?: {_WORD})*(?: {{2,}}{_WORD}(?: {_WORD})*)+)[ \t]*\r?\n"
    rf"|<(?:th|dt|td|b|strong|label)\b[^<>]*>{_BLANK}{_CELL}{_BLANK}:?</[a-z]+>\s*(?:</?[a-z]+[^<>]*>\s*)?<(?:td|dd|span|p)\b[^<>]*>\s*"
    rf"|\binsert\s+into\s+[^\s(]+\s*\({_BLANK}{_CELL}(?:\s*,\s*{_CELL})*{_BLANK}\)\s*values\s*)"
)
WITHIN_LINES = b"<iI"
"""What headers begin with that need not begin a line."""
_MARKED = rf"(?i)(?:^|[^A-Za-z\x{{C0}}-\x{{17F}}])(?:{_SENSITIVE})|(?:{_SENSITIVE})(?:$|[^A-Za-z\x{{C0}}-\x{{17F}}])"
_LONGEST_NAME = 48
_LONGEST_CELL = 2048
_USUAL_NAME = 28
"""Characters that headers have on average at most; where there are more, commas are those of prose.
"""
_DELIMITERS = (b"\t", b"|", b";", b",", b"  ")
_RULE = lazy(rb"[\s|:+=-]+")
_CELLS = {
    delimiter: lazy(
        rb"(?:^|(?<="
        + re.escape(delimiter)
        + rb'))(?:[ \t]*"(?:[^"]|"")*"[ \t]*|[^'
        + re.escape(delimiter)
        + rb"]*)"
    )
    for delimiter in _DELIMITERS[:4]
}
_INSERT = lazy(rb"insert\s+into\s[^(]*\(.*\)\s*values\s*", re.IGNORECASE | re.DOTALL)
_SQL_VALUE = lazy(rb"\s*(?:N?'((?:[^']|'')*)'|([^,()']*(?:\([^()]*\))?))\s*([,)])")
_SQL_NEXT = lazy(rb"\s*,?\s*\(")
_QUOTES = b"\"'` \t"


LabelScore = Callable[[int, bytes], float | None]


class Cell(NamedTuple):
    header: bytes
    start: int
    end: int


class OpenTable:
    """The header of the last table in a part of a text, whose rows may go on in the next part of
    the stream.
    """

    header = b""


class Columns:
    """The cells below headers that name something sensitive, each right after its header."""

    def __init__(self, cells: Iterable[Cell], data: bytes) -> None:
        text = bytearray()
        self._labels: list[bytes] = []
        self._blocks, self._starts, self._froms, self._tos = (array("q") for _ in range(4))
        labels: dict[bytes, bytes] = {}
        for header, start, end in cells:
            label = labels.get(header)
            if label is None:
                label = labels[header] = b"\n" + header + b": "
            self._labels.append(label)
            self._blocks.append(len(text))
            text += label
            self._starts.append(len(text))
            self._froms.append(start)
            self._tos.append(end)
            text += data[start:end]
            text += b"\n"
        self.data = bytes(text)

    @classmethod
    def of(
        cls, data: bytes, headers: Iterable[tuple[int, int]], table: OpenTable | None
    ) -> Columns | None:
        """None where no header says anything; `table` says in which one the text begins, and takes
        the last one of it.
        """
        columns = cls(_cells(data, headers, table or OpenTable()), data)
        return columns if columns.data else None

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Where that stands in the original; None where it is not within one cell."""
        at = bisect_right(self._starts, start) - 1
        if at < 0:
            return None
        first = self._froms[at] + start - self._starts[at]
        last = first + end - start
        return (first, last) if last <= self._tos[at] else None

    def settle(self, found: list[Candidate], label_score: LabelScore) -> Settled:
        """Give each candidate that takes a cell the score that the label gives it, and return the
        cells that are settled thereby.
        """
        holders: list[Candidate | None] = [None] * len(self._labels)
        scores: dict[tuple[int, bytes], float | None] = {}
        for number, (start, end, plain, _proven, pattern) in enumerate(found):
            at = bisect_right(self._froms, start) - 1
            if at < 0 or self._froms[at] != start or self._tos[at] != end:
                continue
            key = pattern, self._labels[at]
            if key not in scores:
                scores[key] = label_score(*key)
            if (score := scores[key]) and score > plain:
                found[number] = found[number]._replace(score=score)
            holder = holders[at]
            if holder is None or rank(found[number]) < rank(holder):
                holders[at] = found[number]
        return Settled(self, holders, scores)


class Settled:
    """The cells that a candidate takes, so that few patterns could still change what is found in
    them.
    """

    def __init__(
        self,
        columns: Columns,
        holders: list[Candidate | None],
        scores: dict[tuple[int, bytes], float | None],
    ) -> None:
        self._columns = columns
        self._holders = holders
        self._scores = scores

    def open_hits(self, ends: Iterable[int], best: float, proven: bool, pattern: int) -> list[int]:
        """Return the hits of a pattern that may change what is found."""
        blocks, labels = self._columns._blocks, self._columns._labels
        kept: list[int] = []
        decided: dict[tuple[float, int, bytes], bool] = {}
        for end in ends:
            at = bisect_left(blocks, end) - 1
            holder = self._holders[at]
            if holder is not None:
                key = holder.score, holder.pattern, labels[at]
                if key not in decided:
                    own = holder.pattern == pattern
                    decided[key] = (
                        own and self._scores[pattern, labels[at]] is not None
                    ) or cannot_beat(best, proven, pattern, holder)
                if decided[key]:
                    continue
            kept.append(end)
        return kept

    def holders(self) -> Iterator[Candidate]:
        """Return what takes cells, where those are among the columns."""
        for start, first, end, holder in zip(
            self._columns._starts,
            self._columns._froms,
            self._columns._tos,
            self._holders,
            strict=True,
        ):
            if holder is not None:
                yield holder._replace(start=start, end=start + end - first)


@cache
def _marked() -> tuple[Find, Find]:
    return finders(compile_regex(_MARKED, "tables"))


def _is_marked(names: bytes) -> bool:
    """Whether a word that says something begins or ends one of the words."""
    search, _ = _marked()
    return bool(search(names, 0, len(names))[0][0] >= 0)


def _cells(data: bytes, headers: Iterable[tuple[int, int]], table: OpenTable) -> Iterator[Cell]:
    place = 0
    if table.header:
        for cell in _rows(data, data.find(b"\n") + 1, table.header):
            place = cell.end
            yield cell
        if not place:
            table.header = b""
    for start, end in headers:
        if start < place:  # the row of a table that was read
            continue
        line = data[start:end]
        place = end
        of_rows = line[:1] != b"<" and not _INSERT.fullmatch(line)
        if _is_marked(line) and _may_name(line) and (not of_rows or _may_go_on(data, end, line)):
            if of_rows:
                table.header = line.rstrip()
                rows = _rows(data, end, table.header)
            elif line[:1] == b"<":
                rows = _marked_up(data, start, end)
            else:
                rows = _sql_rows(data, start, end)
            for cell in rows:
                place = max(place, cell.end)
                yield cell


def _may_name(line: bytes) -> bool:
    return line[:1] == b"<" or len(line) <= _USUAL_NAME * (1 + sum(map(line.count, _DELIMITERS)))


def _may_go_on(data: bytes, place: int, header: bytes) -> bool:
    """Whether the line behind a header has its delimiter, is a rule, or has not come yet."""
    stop = data.find(b"\n", place)
    if stop < 0:
        return True
    line = data[place:stop]
    return _delimiter(header) in line or bool(_RULE.fullmatch(line))


def _delimiter(header: bytes) -> bytes:
    return next((each for each in _DELIMITERS if each in header.strip(b"|")), b"|")


def _rows(data: bytes, place: int, header: bytes) -> Iterator[Cell]:
    """The cells below a line of headers, as long as the lines have as many."""
    delimiter = _delimiter(header)
    headers = _split(header, delimiter)
    names = {
        column: name
        for column, (first, last) in enumerate(headers)
        if (name := _name(header[first:last]))
    }
    while names and place < len(data):
        stop = data.find(b"\n", place)
        stop = len(data) if stop < 0 else stop
        line = data[place:stop]
        if not _RULE.fullmatch(line):
            cells = _split(line, delimiter)
            if len(cells) != len(headers):
                return
            for column, name in names.items():
                first, last = cells[column]
                if first < last:
                    yield Cell(name, place + first, place + last)
        elif not line:
            return
        place = stop + 1


def _split(line: bytes, delimiter: bytes) -> list[tuple[int, int]]:
    """Where the cells of a line are, without the quotes and blanks around them."""
    bare = line.rstrip()
    place = 0
    if delimiter == b"|":
        place = len(bare) - len(bare.lstrip(b" \t").removeprefix(b"|"))
        bare = bare.removesuffix(b"|")
    cells = []
    for part in _parts(bare[place:], delimiter):
        inner = part.strip(_QUOTES)
        first = place + (part.find(inner) if inner else 0)
        cells.append((first, first + len(inner)))
        place += len(part) + len(delimiter)
    return cells


def _parts(line: bytes, delimiter: bytes) -> list[bytes]:
    if b'"' in line:
        return _CELLS[delimiter].findall(line) if delimiter in _CELLS else line.split(delimiter)
    return line.split(delimiter) if len(delimiter) == 1 else _aligned(line)


def _aligned(line: bytes) -> list[bytes]:
    """Cells with at least two blanks between them; all but two go with the cell before."""
    parts: list[bytes] = []
    for part in line.split(b"  "):
        if part.strip() or not parts:
            parts.append(part)
        else:
            parts[-1] += b"  " + part
    return parts


def _sql_rows(data: bytes, start: int, end: int) -> Iterator[Cell]:
    """The values of an INSERT statement by the names of their columns."""
    listed = data[data.index(b"(", start) + 1 : data.rindex(b")", start, end)]
    names = [_name(column.strip()) for column in listed.split(b",")]
    place = end
    while found := _SQL_NEXT.match(data, place):
        place = found.end()
        for name in names:
            value = _SQL_VALUE.match(data, place)
            if value is None:
                return
            place = value.end()
            first, last = value.span(1) if value[1] is not None else value.span(2)
            if name and first < last:
                yield Cell(name, first, last)
            if value[3] == b")":
                break


def _marked_up(data: bytes, start: int, end: int) -> Iterator[Cell]:
    """The element of HTML behind one that names it."""
    header = data[data.index(b">", start) + 1 : data.index(b"</", start)].strip(_QUOTES + b":")
    stop = data.find(b"<", end, end + _LONGEST_CELL)
    value = data[end:stop].rstrip() if stop > 0 else b""
    if value:
        yield Cell(header, end, end + len(value))


def _name(header: bytes) -> bytes:
    """The header, if it may be a label of what is looked for; nothing otherwise."""
    bare = header.strip(_QUOTES)
    if len(bare) > _LONGEST_NAME:
        return b""
    return bare if _is_marked(bare) else b""
