"""Messages of Outlook, and Office files of 1993 to 2003, which are compound files."""

from dlpctl.formats.compound.excel import Excel
from dlpctl.formats.compound.outlook import Outlook
from dlpctl.formats.compound.powerpoint import PowerPoint
from dlpctl.formats.compound.word import Word

FORMATS = (Excel(), Outlook(), PowerPoint(), Word())
