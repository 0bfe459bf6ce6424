"""Signs that a text needs a format: generated from the formats.

Generate this module with `python -m dlpctl.formats.discovery`; a test compares the result.
"""

NAMES = (
    ".br",
    ".vcf",
    ".vcard",
    ".ics",
    ".ical",
    ".ifb",
    ".ldif",
    ".ldf",
    ".csv",
    ".tsv",
    ".tab",
    ".psv",
    ".mbox",
    ".mbx",
    ".eml",
    ".mht",
    ".mhtml",
    ".emlx",
    ".ipynb",
    ".srt",
    ".vtt",
    ".sbv",
    ".ass",
    ".ssa",
    ".lrc",
    ".tex",
    ".ltx",
    ".latex",
    ".bib",
    ".man",
    ".roff",
    ".mdoc",
    ".ms",
    ".pod",
    ".adoc",
    ".asciidoc",
    ".rst",
    ".dxf",
)
"""Suffixes of texts in which a format finds more than plain text shows."""
STARTS = (
    ("dlpctl.formats.ararchive", b"!<arch>\\n", 0),
    ("dlpctl.formats.binary", b"P7\\s", 0),
    (
        "dlpctl.formats.celltexts",
        b"ID;P[A-Z0-9]*(?:;[A-Z0-9]*)*\\r?\\n(?:[BCFOPW]|N[NUEVL]);[A-Z]",
        0,
    ),
    ("dlpctl.formats.celltexts", b"TABLE[ ]*\\r?\\n0,1[ ]*\\r?\\n", 0),
    ("dlpctl.formats.columns", b"PAR1", 0),
    ("dlpctl.formats.columns", b"ORC", 0),
    ("dlpctl.formats.columns", b"ARROW1", 0),
    ("dlpctl.formats.compressed", b"x\x9c|x\xda", 0),
    ("dlpctl.formats.compressed", b"BZh", 0),
    ("dlpctl.formats.compressed", b"\\(\xb5/\xfd", 0),
    ("dlpctl.formats.contentlines", b"(?i)BEGIN:VCARD", 0),
    ("dlpctl.formats.contentlines", b"(?i)BEGIN:VCALENDAR", 0),
    ("dlpctl.formats.contentlines", b"(?i)VERSION: 1", 0),
    ("dlpctl.formats.cpio", b"07070[127]", 0),
    ("dlpctl.formats.gedcom", b"(?:\\xef\\xbb\\xbf)?0 HEAD[ ]*\\r?\\n", 0),
    (
        "dlpctl.formats.image",
        (b"GIF8|BM|RIFF|\\xff\\xd8\\xff|P[1-6]\\s|\\s*(?:/\\* XPM|#define \\w+_w)|DDS |icns"),
        0,
    ),
    (
        "dlpctl.formats.mail",
        (
            b"(?i)(?=From |[a-z][a-z0-9-]*+:)(?:[^\\n]*+\\n(?!\\r?\\n))*?(?:From"
            b"|To|Subject|Date|Received|Message-ID|MIME-Version|Return-Path"
            b"|Delivered-To|Cc):"
        ),
        0,
    ),
    ("dlpctl.formats.metafile", b"VCLMTF", 0),
    ("dlpctl.formats.objects", b"[dl](?:\\d{1,10}:|i-?\\d|[dl])", 0),
    ("dlpctl.formats.office", b"[\\xef\\xbb\\xbf \\t\\r\\n]*+\\{\\\\rtf", 0),
    ("dlpctl.formats.pdf", b"%PDF-", 1029),
    (
        "dlpctl.formats.qif",
        b"(?:\\xef\\xbb\\xbf)?!(?:Type:|Account|Option:|Clear:)[^\\r\\n]*\\r?\\n",
        0,
    ),
    ("dlpctl.formats.shown", b"(?:\\xef\\xbb\\xbf)?(?:WEBVTT\\b|\\[Script Info\\])", 0),
    ("dlpctl.formats.shown", b"\\\\document(?:class|style)\\b", 0),
    ("dlpctl.formats.shown", b"(?:\\.|')\\\\\\\"|\\.(?:TH|Dd|so)[ \\t]", 0),
    ("dlpctl.formats.shown", b"=(?:pod|head1)\\b", 0),
    ("dlpctl.formats.shown", b"\\s*0\\r?\\nSECTION\\r?\\n", 0),
    ("dlpctl.formats.xdt", b"0138000[^\\r\\n]{4}\\r?\\n", 0),
)
"""Modules, the start of their formats' files, and the number of bytes that may contain it."""
