"""Settings: what they are, where they come from, and the folders that dlpctl uses."""

from __future__ import annotations

from dlpctl.config.loading import load_config as load_config
from dlpctl.config.locations import Locations as Locations
from dlpctl.config.locations import locate as locate
from dlpctl.config.origin import Layer as Layer
from dlpctl.config.origin import Origin as Origin
from dlpctl.config.settings import SETTINGS as SETTINGS
from dlpctl.config.settings import Allow as Allow
from dlpctl.config.settings import Config as Config
from dlpctl.config.settings import FileLimits as FileLimits
from dlpctl.config.settings import Setting as Setting
