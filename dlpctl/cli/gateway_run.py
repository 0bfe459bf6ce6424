"""Start the gateway from the command line: its policy, upstreams and limits."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, NamedTuple
from urllib.parse import urlsplit

import typer

from dlpctl.cli import options as shared
from dlpctl.cli.session import Session
from dlpctl.errors import UsageError

if TYPE_CHECKING:
    from dlpctl.detect.engine import Detector
    from dlpctl.gateway.admission import Admission, Terms
    from dlpctl.gateway.relaying import Target

_MISSING = "the gateway needs more packages: install dlpctl with its extra, dlpctl[gateway]"
_TURN_SECONDS = 0.00005
"""The longest time in seconds that a thread holds the interpreter while another waits. The event
loop releases it with each chunk that it writes, and waits this long while a request is inspected.
"""
_EXAMPLE = "Jane Doe, 12 Main Street, Springfield: jane.doe@example.com, +1 202 555 0143"
_NEW_OBJECTS = 2_000
"""New objects after which the garbage collector runs; searching more takes longer."""
_HOUR = 3_600.0
_ANSWER_THREADS = 4
"""Threads that restore answers, besides those that inspect requests."""


class GatewayOptions(NamedTuple):
    """The options of `dlpctl gateway`."""

    upstream: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=URL",
            help="Serve anthropic, openai, gemini or ollama at URL. Repeatable; all by default.",
        ),
    ] = None
    host: shared.Host = None
    port: shared.Port = None
    allow_remote: shared.AllowRemote = False
    policy: shared.Policy = None
    destination: shared.Destination = None
    operator: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How to mask; only token and surrogate are restored."),
    ] = None
    with_keys: Annotated[
        bool,
        typer.Option("--with-keys", help="Require a policy or license key in X-Dlpctl-Key."),
    ] = False
    server: shared.Server = None
    inspect_answers: Annotated[
        bool,
        typer.Option(
            "--inspect-answers", help="Check answers for CUSTOMER, and cut streams before a value."
        ),
    ] = False
    keep_values: Annotated[
        bool,
        typer.Option(
            "--keep-values", help="Keep values that later requests refer to, in encrypted vaults."
        ),
    ] = False


def run(options: GatewayOptions) -> None:
    """Serve until SIGTERM or SIGINT."""
    from concurrent.futures import ThreadPoolExecutor

    session = Session.start(server=options.server)
    config = session.config
    try:
        from dlpctl.gateway.conversations import Conversations
        from dlpctl.gateway.lanes import TURNS
        from dlpctl.gateway.server import Gateway, Settings
        from dlpctl.gateway.serving import server
        from dlpctl.gateway.upstream import Upstream
    except ImportError:
        raise UsageError(_MISSING) from None
    from dlpctl.gateway.calls import CallLog, call_log
    from dlpctl.operators import operator_named
    from dlpctl.system.listening import listen

    host = options.host or config.gateway.host
    given_port = config.gateway.port if options.port is None else options.port
    targets = _targets(options.upstream or ())
    hosts = _hosts(host, allow_remote=options.allow_remote)
    operator_named(options.operator or config.gateway.operator)
    folder = config.data_folder / "gateway" / "values" if options.keep_values else None
    conversations = Conversations(config.gateway.hours * _HOUR, folder)
    conversations.purge()
    with _admission(session, options) as admission:
        executor = ThreadPoolExecutor(TURNS + _ANSWER_THREADS, "inspection")
        gateway = Gateway(
            targets,
            admission,
            conversations,
            Upstream,
            CallLog(call_log(config.data_folder)),
            executor,
            Settings(hosts, config.gateway.body_bytes),
        )
        listening = listen(host, given_port)
        _keep_turns_short()
        with listening:
            port = listening.getsockname()[1]

            def announce() -> None:
                sys.stderr.write(f"dlpctl: the gateway listens on {url_of(host, port)}\n")
                for name, target in targets.items():
                    sys.stderr.write(f"dlpctl:   /{name} for {target.url}\n")

            server(gateway, announce).run([listening])
        executor.shutdown(cancel_futures=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _keep_turns_short() -> None:
    """Limit how long the event loop waits for other threads and for garbage collection."""
    sys.setswitchinterval(_TURN_SECONDS)
    gc.collect()
    gc.freeze()  # objects that exist now are permanent and need no search
    gc.set_threshold(_NEW_OBJECTS)


def url_of(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 -- to be replaced
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def _targets(upstreams: Sequence[str]) -> Mapping[str, Target]:
    """Return the protocols to serve: the named ones, or else all."""
    from dlpctl.gateway.protocols import PROTOCOLS
    from dlpctl.gateway.relaying import Target

    if not upstreams:
        return {name: Target(each, each.upstream) for name, each in PROTOCOLS.items()}
    targets = {}
    for given in upstreams:
        name, equals, url = given.partition("=")
        parts = urlsplit(url)
        if not equals or name not in PROTOCOLS or parts.scheme not in ("http", "https"):
            names = ", ".join(PROTOCOLS)
            raise UsageError(f"--upstream: must be NAME=https://HOST, where NAME is {names}")
        if not parts.hostname or parts.query or parts.fragment or parts.username:
            raise UsageError(f"--upstream {name}: must be an address such as https://HOST/PATH")
        targets[name] = Target(PROTOCOLS[name], url)
    return targets


def _hosts(host: str, *, allow_remote: bool) -> frozenset[str]:
    from dlpctl_daemon.options import is_loopback, require_loopback

    if allow_remote and not is_loopback(host):
        return frozenset()
    require_loopback(host)
    return frozenset(("127.0.0.1", "localhost", "::1", host.lower()))


@contextmanager
def _admission(session: Session, options: GatewayOptions) -> Iterator[Admission]:
    """Yield the admission of requests: by keys, by this process's license, or for everyone."""
    own_key = os.environ.get("DLPCTL_LICENSE_KEY", "").strip() or None
    if options.server is not None and not (options.with_keys or own_key):
        raise UsageError("--server: needs --with-keys, or a key in DLPCTL_LICENSE_KEY")
    if options.with_keys and session.config.server is None:
        with _local_keys(session, options) as admission:
            yield admission
    elif session.config.server is not None and (options.with_keys or own_key):
        with _server_keys(session, options, None if options.with_keys else own_key) as admission:
            yield admission
    else:
        yield _everybody(session, options)


def _prepared(session: Session) -> Detector:
    """Return the detector with everything loaded that would otherwise delay open streams."""
    from dlpctl.cli.compiling import compile_visibly

    detector = session.detector()
    compile_visibly(detector)
    detector.compile()  # for names, too
    detector.scan(_EXAMPLE)
    return detector


def _terms(session: Session, options: GatewayOptions) -> Terms:
    from dlpctl.control.rates import Rate, RateLimiter
    from dlpctl.gateway.admission import Terms
    from dlpctl.policy.selectors import parse_destination

    config = session.config
    return Terms(
        parse_destination(options.destination or config.destination),
        options.operator or config.gateway.operator,
        config.limits,
        RateLimiter(Rate(config.serve.rate, config.serve.burst)),
        config.on_uninspected == "block",
        options.inspect_answers or config.gateway.inspect_answers,
    )


@contextmanager
def _local_keys(session: Session, options: GatewayOptions) -> Iterator[Admission]:
    from dlpctl.control.prepared import PreparedDetectors
    from dlpctl.control.service import ControlPlane
    from dlpctl.gateway.admission import ControlAdmission
    from dlpctl.gateway.licensed import KeyAdmission, LicenseAdmission, LocalLicenses

    detector = _prepared(session)
    config, terms = session.config, _terms(session, options)
    with ControlPlane.open(
        config.data_folder,
        lambda: detector,
        issuer=config.serve.issuer,
        environ=os.environ,
        database=config.serve.database_url,
    ) as control:
        detectors = PreparedDetectors(lambda: detector)
        licenses = LicenseAdmission(LocalLicenses(control), terms, detectors, session.key())
        yield KeyAdmission(licenses, ControlAdmission(control.checks, terms))


@contextmanager
def _server_keys(
    session: Session, options: GatewayOptions, own_key: str | None
) -> Iterator[Admission]:
    from dlpctl.control.prepared import PreparedDetectors
    from dlpctl.gateway.licensed import LicenseAdmission, ServerLicenses

    detector = _prepared(session)
    assert session.config.server is not None
    with closing(ServerLicenses(session.config.server, session.config.data_folder)) as licenses:
        yield LicenseAdmission(
            licenses,
            _terms(session, options),
            PreparedDetectors(lambda: detector),
            session.key(),
            own_key=own_key,
            own_policy=options.policy,
        )


def _everybody(session: Session, options: GatewayOptions) -> Admission:
    from dlpctl.gateway.admission import LocalAdmission, grant

    _prepared(session)
    config = session.config
    policy = options.policy or config.gateway.policy
    operator = options.operator or config.gateway.operator
    inspects = options.inspect_answers or config.gateway.inspect_answers
    answers = session.checker("CUSTOMER", policy, "redact") if inspects else None
    checker = session.checker(options.destination, policy, operator)
    made = grant(
        checker,
        config.limits,
        session.key(),
        lambda *_: None,
        refuses_unread=config.on_uninspected == "block",
        answers=answers,
    )
    return LocalAdmission(made)
