"""Starts the service with its settings, and ends it."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from dlpctl.tempfiles import temporary_root
from dlpctl_daemon.listening import address, listen
from dlpctl_daemon.logs import Log
from dlpctl_daemon.options import Options

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector

_WARMING = "jane.doe@example.com"
_TURN_SECONDS = 0.0005
"""The longest that a thread keeps the interpreter while another one waits. A check waits that long
again and again if another tenant's request is busy."""


def serve(
    folder: Path, make_detector: Callable[[], Detector], options: Options, inspector: Sequence[str]
) -> None:
    """Answer until SIGTERM or SIGINT; `inspector` is the command that starts a process for large
    contents.
    """
    log = Log(sys.stderr, options.settings.log)
    options.checked()
    with closing(listen(options)) as listening:
        # A socket that listens already lets early clients wait instead of refusing them.
        from dlpctl.control.service import ControlPlane
        from dlpctl_daemon.app import create_app
        from dlpctl_daemon.housekeeping import Housekeeping
        from dlpctl_daemon.inspectors import Inspectors
        from dlpctl_daemon.server import Server, serving

        detector = make_detector()
        detector.compile()
        with (
            closing(
                Inspectors(inspector, lambda problem: log.error("inspection", problem=problem))
            ) as inspectors,
            ControlPlane.open(
                folder,
                lambda: detector,
                limits=options.limits,
                issuer=options.settings.issuer,
                inspector=inspectors,
                environ=os.environ,
            ) as control,
        ):
            token_file = control.tokens.first()
            app = create_app(control, options, log)
            server = Server(app, listening)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, serving(server))
            detector.scan(_WARMING)
            _settle()
            housekeeping = Housekeeping(
                control.maintenance, options.settings.keep_days, log, metrics=app.service.metrics
            )
            housekeeping.start()
            where = address(listening)
            log.info(
                "listening",
                address=where,
                docs=f"{where}/docs",
                console=f"{where}/",
                sign_in="dlpctl console",
                folder=str(folder),
                admin_token=str(token_file),
            )
            try:
                server.run()
            finally:
                housekeeping.end()
                _remove(options)
    log.info("ended")


def _settle() -> None:
    """Set the interpreter up for requests."""
    gc.freeze()  # all objects of now are kept, and need no search for garbage
    sys.setswitchinterval(_TURN_SECONDS)
    # Python would try the folder with a named file before it keeps the first body there.
    tempfile.tempdir = temporary_root()


def _remove(options: Options) -> None:
    if options.unix_socket is not None:
        Path(options.unix_socket).unlink(missing_ok=True)
