"""Office files: Word, Excel and PowerPoint, OpenDocument, and Rich Text."""

from __future__ import annotations

from dlpctl.formats.office import opendocument, rtf
from dlpctl.formats.office.excel import Excel
from dlpctl.formats.office.opc import OpenXml

FORMATS = (
    OpenXml("docx", (".docx", ".docm", ".dotx", ".dotm")),
    OpenXml("pptx", (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm")),
    Excel("xlsx", (".xlsx", ".xlsm", ".xltx", ".xltm", ".xlam")),
    *opendocument.FORMATS,
    *rtf.FORMATS,
)
