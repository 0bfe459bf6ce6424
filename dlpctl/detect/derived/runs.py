"""Regular expressions of runs that hide something, and of their starts."""

from __future__ import annotations

from dlpctl.texts.encoded import ESCAPES

# The last ones strike letters out, underline or enclose them.
_INVISIBLE = (
    r"[\x{AD}\x{34F}\x{180B}-\x{180E}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{2064}"
    r"\x{2066}-\x{2069}\x{FEFF}\x{305}\x{332}\x{333}\x{335}-\x{338}\x{20DD}-\x{20E4}]"
)
_KEYCAP = r"\x{FE0F}\x{20E3}"
# Text that is not shown, in the characters for tags and the selectors of variants of characters.
TAGS = r"[\x{E0020}-\x{E007E}]{4,}"
SELECTORS = r"[\x{FE00}-\x{FE0F}\x{E0100}-\x{E01EF}]{6,}"
_OTHER_LETTERS = (
    r"[\x{FE52}\x{FE63}\x{FE6B}\x{FF0D}\x{FF0E}\x{FF10}-\x{FF19}\x{FF20}-\x{FF3A}\x{FF3F}"
    r"\x{FF41}-\x{FF5A}\x{1D400}-\x{1D7FF}]"
)
_OPENED = r"[\x{FF08}\x{FF0B}]"
# Those of the scripts of Asia; then raised, lowered and circled ones.
_OTHER_DIGITS = (
    r"[\x{660}-\x{669}\x{6F0}-\x{6F9}\x{966}-\x{96F}\x{9E6}-\x{9EF}\x{A66}-\x{A6F}"
    r"\x{AE6}-\x{AEF}\x{B66}-\x{B6F}\x{BE6}-\x{BEF}\x{C66}-\x{C6F}\x{CE6}-\x{CEF}"
    r"\x{D66}-\x{D6F}\x{E50}-\x{E59}\x{ED0}-\x{ED9}\x{F20}-\x{F29}\x{1040}-\x{1049}"
    r"\x{17E0}-\x{17E9}\x{1FBF0}-\x{1FBF9}]"
)
_SET_DIGITS = (
    r"[\x{B2}\x{B3}\x{B9}\x{2070}\x{2074}-\x{2079}\x{2080}-\x{2089}\x{2460}-\x{2468}\x{24EA}"
    r"\x{2474}-\x{247C}\x{24F5}-\x{24FD}\x{2776}-\x{277E}\x{2780}-\x{2788}\x{278A}-\x{2792}]"
)
_OTHER_GAPS = (
    r"[\x{A0}\x{B7}\x{2000}-\x{200A}\x{2010}-\x{2015}\x{2022}\x{2027}\x{202F}\x{205F}\x{2212}"
    r"\x{3000}\x{30FB}]"
)
_OTHER_BLANKS = r"[\x{A0}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}]"
# A blank before a number may be all that is between it and its label.
_BEFORE_NUMBER = rf"{_OTHER_BLANKS}+[(+]?[A-Z]{{0,4}}[0-9]"
# Groups start at their first gap: to look for one after every capital and digit would double the
# states.
_OTHER_FORMS = (
    rf"(?:{_OPENED}?{_OTHER_LETTERS})+\x{{FF09}}?|{_OTHER_DIGITS}{{2,}}|{_SET_DIGITS}{{2,}}"
    rf"|(?:{_OTHER_GAPS}[0-9A-Z]{{1,6}}){{2,}}|{_BEFORE_NUMBER}"
)
_NAMED_ENTITY = (
    r"&(?:commat|period|colon|lowbar|num|equals|sol|plus|hyphen|dash|[nm]dash|minus|shy"
    r"|[a-z]{1,4}sp|zwn?j);"
)
_ESCAPE = "|".join(f"{each.before}{each.of_text}{each.after}" for each in ESCAPES)
# The characters of a form in brackets or between bars.
BOXED = r"\b[0-9A-Za-z](?:(?:[ ]?\|[ ]?|\][ ]?\[|\)[ ]?\()[!-~]){8,}"
_SPACED = r"\b[0-9](?:[ ._*-]{1,3}[0-9]){8,24}\b|\b[A-Za-z](?: {1,3}[!-~]){9,}(?:[\s\"'<,;)]|$)"
# The start of text in base64, by its possible first bytes: ASCII, one byte of ASCII and a longer
# character, a longer character, a line end, UTF-16. Identifiers of source code are mostly told
# apart by that, before anything of them is copied. In hexadecimal digits of text every other one
# tells it.
_ANY = "[0-9A-Za-z+/_-]"
_OF_TEXTS = (
    rf"(?:[I-Za-f](?:[C-HS-Xi-nyz0-3](?:[ABEFIJMNQRUVYZcdghklopstwx014589]{_ANY}[CDI-Za-fw-z0-9]"
    rf"|[DHLPTXbfjnrvz37/_]{_ANY}{{2}})"
    rf"|(?:[M-Pc-fs-v89+/_-][CGKOSWaeimquy26+-]|[AQgw][AB]){_ANY}{{2}})"
    rf"|(?:w[qr4-7]|[x-z0-8][I-LYZabo-r4-7]|9I|C[gQS-Xi-n]|D[QS-X]){_ANY}{{3}})"
)
# The headers of gzip and zlib.
_PACKED_STARTS = rf"(?:H4sI{_ANY}|e(?:A[E-H]|F[4-7]|J[w-z]|N[o-r]){_ANY}{{2}})"
_PACKED_HEX_STARTS = r"(?:1[Ff]8[Bb]08[0-9A-Fa-f]{2}|78(?:01|5[Ee]|9[Cc]|[Dd][Aa])[0-9A-Fa-f]{4})"
_HEX_OF_TEXTS = (
    r"(?:(?:[2-7][0-9A-Fa-f]|0[9AaDd]|[C-Fc-f][0-9A-Fa-f][89ABab][0-9A-Fa-f]){4}"
    r"|(?:[2-7][0-9A-Fa-f]00){2})"
)
_BASE64_STARTS = f"(?:{_OF_TEXTS}|{_PACKED_STARTS})"
_HEX_STARTS = f"(?:{_HEX_OF_TEXTS}|{_PACKED_HEX_STARTS})"
# Base64 of data deflated without a header: the first bits are those of a compressed block.
RAW_START = (
    r"(?:[ACEGIKMOQSUWYacegikmoqsuwy02468+][g-z0-9+/]|[BDFHJLNPRTVXZbdfhjlnprtvxz13579/][A-Za-f])"
    r"[0-9A-Za-z+/]{22}"
)
RAW_STARTS = rf"(?:^|[^0-9A-Za-z+/_-]){RAW_START}"
RAW_RUN = (
    r"[0-9A-Za-z+/]{24,}(?:\r?\n[ \t]*[0-9A-Za-z+/]{44,76})*"
    r"(?:\r?\n[ \t]*[0-9A-Za-z+/]{2,76})?={0,2}"
)
# Runs that may be deflated; hashes in hexadecimal are no base64.
MAY_BE_PACKED = (
    rf"{_PACKED_STARTS}|(?:0[xX]|\\x)?{_PACKED_HEX_STARTS}|(?![0-9A-Fa-f]{{24}}){RAW_START}"
)
_ENCODED = (
    rf"\b{_BASE64_STARTS}(?:[0-9A-Za-z+/]{{39,71}}\r?\n[ \t]*"
    rf"(?:[0-9A-Za-z+/]{{44,76}}\r?\n[ \t]*)*[0-9A-Za-z+/]+={{0,2}}"
    rf"|{_ANY}{{15,}}={{0,2}}|{_ANY}{{9,}}={{1,2}})"
    rf"|(?:\b|\b0[xX]|\\{{1,2}}x){_HEX_STARTS}[0-9A-Fa-f]{{4,}}"
    r"|\b[0-9A-Fa-f]{2}(?:[ :-][0-9A-Fa-f]{2}){8,}\b"
    r"|\b(?:[E-P][A-Z2-7]{55,79}\r?\n(?:[A-Z2-7]{56,80}\r?\n)*[A-Z2-7]+"
    r"|[E-P][A-Z2-7]{15,}|[e-p][a-z2-7]{19,})={0,6}"
    r"|<~[!-uz\s]{10,}~>"
)
# All of a list, since a part of one is no number; digits with a sign between them are one number.
_IN_THOUSANDS = "|".join(
    rf"[1-9][0-9]{{0,2}}(?:{sign}[0-9]{{2,3}}){{4,}}" for sign in (",", "'", r"\.")
)
# A number that is a literal of a program or of a pickle, or written as the amount, the measure or
# the field of fixed width that it is not.
LITERAL = (
    r"\b(?:[IL][0-9]{12,19}L?|[0-9]{12,19}(?:n|[uU]?[lL]{1,2}|\.0{1,8})|[0-9]{4}(?:_[0-9]{4}){3}"
    r"|[1-9]\.[0-9]{9,18}[eE][+]?1[1-8]|0{3,12}[1-9][0-9]{11,18}"
    rf"|{_IN_THOUSANDS})\b"
)
_LITERAL_START = (
    r"\b(?:[IL][0-9]{12}|000[0-9]{9}|[0-9]{12,19}(?:[nuUlL]|\.0)|[0-9]{4}_[0-9]{4}_"
    r"|[1-9]\.[0-9]{9}"
    r"|[1-9][0-9]{0,2}(?:,[0-9]{3},[0-9]{3},|\.[0-9]{3}\.[0-9]{3}\.|'[0-9]{3}'[0-9]{3}'))"
)
# The groups of a card number or an IBAN that are quoted one by one, in cells or items.
_NEXT = r"[\"'](?:\s*[,;|&+.]\s*|\t)[\"']"
_FIRST_GROUP = rf"\b(?:[0-9]{{4}}|[A-Z]{{2}}[0-9]{{2}}){_NEXT}[0-9A-Z]{{4}}"
GROUPS = (
    rf"{_FIRST_GROUP}[0-9A-Z]{{0,2}}(?:{_NEXT}[0-9A-Z]{{4,6}}){{0,8}}(?:{_NEXT}[0-9]{{1,3}})?\b"
)
# Tags of HTML, forums, wikis, man pages and differences of words within a number or an address.
_HIDDEN = r"(?:display:[ ]?none|visibility:[ ]?hidden|font-size:[ ]?0|hidden[ \"'>])"
TAG = (
    rf"(?:<[a-z]{{1,8}}[ ][^<>\n]*{_HIDDEN}[^<>\n]*>[^<>\n]{{0,64}}</[a-z]{{1,8}}>"
    r"|</?(?:a|b|i|u|s|em|tt|big|del|ins|kbd|sub|sup|bdi|wbr|abbr|code|font|mark|nobr|samp|span"
    r"|small|strong|strike|ruby|rb|rt|rp|nowiki|bold|italic|underline|fixed)(?:[ \t][^<>\n]*)?/?>"
    r"|\{\+|\+\}|\[-[^\[\]\n]*-\]|\{\{(?:nbsp|spaces?|thinsp)\}\}|<!--[^<>\n]*-->"
    r"|\[/?[a-z]{1,6}(?:=[^\[\]\n]*)?\]|\{color(?::[^{}\n]*)?\}"
    r"|\\f[BIPR])"
)
TAGGED = rf"[0-9)](?:[ -]?{TAG})+[ -]?[0-9(]|[0-9A-Za-z.-]{TAG}+@|[@-]{TAG}+[0-9A-Za-z]"
TAGGED += rf"|[0-9A-Za-z]{TAG}+\.{TAG}+[0-9A-Za-z]|[+(]{TAG}+[0-9]|[0-9]{TAG}+\)"
# What a printer strikes over another character or under it, colours of a terminal, line ends that
# quoted-printable and shells go on after, and the escapes and emphasis of Markdown.
_OVERSTRUCK = r"[ _]\x08|\x08[^\s\x08]"
_COLOURS = r"(?:\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-B]))+"
# Colours as logs show them, or as programs write them.
COLOUR_NAMES = r"(?:(?:\^\[|#033|\\(?:033|e|x1[bB]|u001[bB]))\[[0-9;]*m)+"
SOFT_BREAKS = r"=\r?\n|\\\r?\n[ \t]*"
# What is between two words of a header that are encoded.
_ENCODED_APART = r"\?=\s+=\?[0-9A-Za-z-]{2,20}\?[BQbq]\?"
# A number, an account, an address or a key that is emphasized by underscores, which belong to words
# otherwise.
_EMPHASIZED = (
    r"[+(]?[0-9][0-9 ().+-]{5,28}[0-9]|[A-Z]{2}[0-9]{2}[0-9A-Z ]{8,32}"
    r"|[0-9A-Za-z.+-]{1,64}@[0-9A-Za-z.-]{3,64}|(?:[A-Za-z]{2,4}_)?[0-9A-Za-z-]{16,100}"
)
MARKS = (
    r"[0-9A-Z)]\\ [0-9A-Z(]|\b\\(?:[-.@]\b|_)|\\[(+][0-9](?:\\\))?|[0-9]\\\)"
    r"|[0-9](?:[ -]?(?:[*`]{1,3}|~~|'{2,3})[ -]?|[ -]_{1,3}|_{1,3}[ -])[0-9]"
    r"|[0-9)](?:[*`]{1,3}|~~|'{2,3}) (?:[*`]{1,3}|~~|'{2,3})[0-9(]"
    r"|\)[ ]?(?:~~|'{2,3})[ ]?[0-9]|\)[ ]\*{1,3}[0-9]"
    r"|[0-9A-Za-z][@-](?:\*{1,3}|~~|'{2,3})[0-9A-Za-z]"
    # A hyphen between asterisks is one of a mask.
    r"|(?:[0-9)]|\)-|\b-)[ ]?(?:[*~][*_~]{1,3}|_[*~]{1,3})[0-9(]"
    r"|@(?:[*~][*_~]{1,3}|_[*~]{1,3})[a-z]"
    r"|[0-9)-][*/=~+_`]{1,3} [*/=~+_`]{1,3}[0-9(]|@[*/=~+_`]{1,3} [*/=~+_`]{1,3}[a-z]"
    r"|[0-9] [/=~][0-9]{2}|[0-9][/=~] [0-9]{2}|[0-9]_{1,3}[*~]{1,3}|[0-9]{2}_{1,3}\b"
    rf"|\b_{{1,3}}(?:{_EMPHASIZED})_{{1,3}}\b"
)
# Quoted-printable where no header tells of it.
QUOTED = r"(?:=[2-7][0-9A-F]){3,}|[0-9]=(?:20|2D)[0-9]"
# A value of a form, with plus signs as blanks, and a character of UTF-7.
_FORM_START = r"=[0-9A-Za-z%._-]+\+[0-9A-Za-z%]"
_FORM = r"=[0-9A-Za-z%._-]+(?:\+[0-9A-Za-z%._-]+)+"
_UTF7 = r"\+A[A-H][0-9A-Za-z+/]+-?"
RUN = (
    rf"{BOXED}|{GROUPS}|{LITERAL}|{_ENCODED}|{QUOTED}|{_FORM}|{_UTF7}|{_OVERSTRUCK}|{_COLOURS}"
    rf"|{COLOUR_NAMES}"
    rf"|{SOFT_BREAKS}|{_ENCODED_APART}|{MARKS}|{TAGGED}"
    rf"|(?:%[0-9A-Fa-f]{{2}})+|(?:{_ESCAPE}|{_NAMED_ENTITY})+"
    rf"|{_SPACED}|{_INVISIBLE}+|{_KEYCAP}|{TAGS}|{SELECTORS}|{_OTHER_FORMS}"
)
# The starts of all types of runs, which are searched for from every byte of a text; with all that
# may follow, an automaton would have ten times the states, each of which takes a while when it is
# entered first. For the same reason, those of base64 are searched for on their own: a word may be
# the start of one while another type is half read.
_STARTS_OF_BASE64 = rf"\b{_BASE64_STARTS}{_ANY}{{9}}(?:{_ANY}{{6}}|{_ANY}{{0,5}}=)"
_OTHER_STARTS = (
    rf"(?:\b|\b0[xX]|\\{{1,2}}x){_HEX_STARTS}[0-9A-Fa-f]{{4}}"
    rf"|\b[0-9A-Fa-f]{{2}}(?:[ :-][0-9A-Fa-f]{{2}}){{8}}\b"
    rf"|%[0-9A-Fa-f]{{2}}|{_ESCAPE}|{_NAMED_ENTITY}"
    rf"|\b[0-9](?:[ ._*-]{{1,3}}[0-9]){{8}}|\b[A-Za-z](?: {{1,3}}[!-~]){{9}}"
    rf"|\b(?:[E-P][A-Z2-7]{{15}}|[e-p][a-z2-7]{{19}})|<~[!-uz]{{5}}|{_OVERSTRUCK}"
    rf"|{BOXED}|{_FORM_START}|\+A[A-H][0-9A-Za-z+/]|\x1b[\[\]()]|[=\\]\r?\n|\?=\s+=\?"
    rf"|(?:\^\[|#033|\\(?:033|e|x1[bB]|u001[bB]))\["
    rf"|{MARKS}|{TAGGED}|{_LITERAL_START}|{_FIRST_GROUP}|{QUOTED}"
    rf"|{_INVISIBLE}|{_KEYCAP}|{_OPENED}?{_OTHER_LETTERS}|{_OTHER_DIGITS}{{2}}|{_SET_DIGITS}{{2}}"
    rf"|{TAGS}|{SELECTORS}"
    rf"|{_OTHER_GAPS}[0-9A-Z]{{1,6}}{_OTHER_GAPS}[0-9A-Z]|{_BEFORE_NUMBER}"
)
RUN_STARTS = (_STARTS_OF_BASE64, _OTHER_STARTS)
# The starts of those that may hide a name, which others, such as emphasis, digits of other scripts
# and the line ends of shells, do not.
HIDES_WORDS = (
    rf"{_STARTS_OF_BASE64}|(?:\b|\b0[xX]|\\{{1,2}}x){_HEX_STARTS}[0-9A-Fa-f]{{4}}"
    rf"|%[2-7][0-9A-Fa-f]|_x00[2-7][0-9A-Fa-f]_|{_NAMED_ENTITY}|\x1b\["
    r"|(?:\^\[|#033|\\(?:033|e|x1[bB]|u001[bB]))\[|\\[ux]\{?[0-9A-Fa-f]{2}"
)
