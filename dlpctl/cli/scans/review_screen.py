"""The keyboard interface of `dlpctl review`."""

from __future__ import annotations

import asyncio
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Input, Label, Static

from dlpctl.cli.scans.review import Review
from dlpctl.errors import DlpctlError
from dlpctl.scan.excerpts import HIDDEN, draw_carets, printable_line
from dlpctl.scan.reports import place_of, printable
from dlpctl.scan.results import Result

_COLOURS = {"SECRETS": "bold red", "PHI": "yellow", "FINANCIAL": "yellow"}
_LOOKING_SECONDS = 0.5
_COLUMNS = ("", "finding", "type", "value")


class ReasonScreen(ModalScreen[tuple[str, str] | None]):
    """Asks for the reason and the last day of an exception."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel")]

    def __init__(self, shown: str, expires: str) -> None:
        super().__init__()
        self._shown = shown
        self._expires = expires

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(f"Accept {self._shown}", markup=False)
            yield Label("Why?")
            yield Input(id="reason")
            yield Label("Until? A day, days such as 90d, or never")
            yield Input(self._expires, id="expires")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input.id == "reason":
            self.query_one("#expires").focus()
        else:
            reason = self.query_one("#reason", Input).value
            self.dismiss((reason, event.input.value))


class ConfirmScreen(ModalScreen[bool]):
    """Asks before a file is changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(f"{self._question} (y/n)", markup=False)

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class ReviewApp(App[bool]):
    """A list of findings and the line of the selected one. Returns True if it was interrupted."""

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #findings { height: 1fr; border: round $primary; }
    #detail { height: auto; max-height: 50%; border-top: solid $primary; padding: 0 1; }
    #dialog { width: 72; max-width: 90%; height: auto; border: thick $primary; padding: 1 2;
              background: $surface; }
    ReasonScreen, ConfirmScreen { align: center middle; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,n", "move(1)", "Next"),
        Binding("k,p", "move(-1)", "Previous"),
        Binding("a", "accept", "Accept"),
        Binding("d", "reject", "Count again"),
        Binding("e", "edit", "Edit"),
        Binding("m", "mask", "Mask in place"),
        Binding("x", "explain", "Explain"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "interrupt", show=False, priority=True),
    ]

    def __init__(self, review: Review, expires: str) -> None:
        super().__init__()
        self._review = review
        self._expires = expires
        self._explains = False

    def compose(self) -> ComposeResult:
        yield DataTable(id="findings", cursor_type="row", zebra_stripes=True)
        with VerticalScroll(id="detail"):
            yield Static(id="text", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        with suppress(NotImplementedError):  # on Windows, where Ctrl-C is an ordinary key here
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self.action_interrupt)
        if hasattr(select, "poll"):
            self.set_interval(_LOOKING_SECONDS, self._end_without_terminal)
        self._table.add_columns(*_COLUMNS)
        self._show_all(0)

    def _end_without_terminal(self) -> None:
        """End if the terminal is gone: Textual reads on, and SIGHUP does not always arrive."""
        terminal = select.poll()
        terminal.register(sys.__stdin__ or 0, select.POLLHUP)
        if any(event & (select.POLLHUP | select.POLLNVAL) for _, event in terminal.poll(0)):
            self.exit(True)

    @property
    def _table(self) -> DataTable[Text]:
        return self.query_one(DataTable)

    @property
    def _result(self) -> Result | None:
        row = self._table.cursor_row
        return self._review.results[row] if 0 <= row < len(self._review.results) else None

    def on_data_table_row_highlighted(self) -> None:
        self._show_detail()

    def action_interrupt(self) -> None:
        self.exit(True)

    def action_move(self, step: int) -> None:
        self._table.move_cursor(row=self._table.cursor_row + step)

    def action_explain(self) -> None:
        self._explains = not self._explains
        self._show_detail()

    def action_accept(self) -> None:
        result = self._result
        if result is None:
            return

        def accept(answer: tuple[str, str] | None) -> None:
            if answer is not None and self._does(lambda: self._review.accept(result, *answer)):
                self._show_all(self._table.cursor_row + 1)

        self.push_screen(ReasonScreen(_named(result), self._expires), accept)

    def action_reject(self) -> None:
        result = self._result
        if result is not None and self._does(lambda: self._review.reject(result)):
            self._show_all(self._table.cursor_row)

    def action_mask(self) -> None:
        result = self._result
        if result is None:
            return

        def mask(answer: bool | None) -> None:
            if answer and self._does(lambda: self._review.mask(result)):
                self._show_all(self._table.cursor_row)

        self.push_screen(ConfirmScreen(f"Mask {_named(result)} in its file?"), mask)

    def action_edit(self) -> None:
        result = self._result
        if result is None:
            return
        command = self._review.editor(result)
        try:
            with self.suspend():
                subprocess.run(command, check=False)
        except (OSError, SuspendNotSupported) as problem:
            self._show_detail(f"{command[0]}: {problem}")
            return
        self._review.scan_again(result.path)
        self._show_all(self._table.cursor_row)

    def _does(self, change: Callable[[], None]) -> bool:
        """Make a change; return whether it worked, and show why if it did not."""
        try:
            change()
        except DlpctlError as problem:
            self._show_detail(problem.message)
            return False
        return True

    def _show_all(self, row: int) -> None:
        """Show the current findings, with the cursor in a row."""
        table = self._table
        table.clear()
        known = self._review.acceptance()
        for result in self._review.results:
            mark = "accepted" if known.accepts(result) else ""
            style = "dim" if mark else _COLOURS.get(result.category, "cyan")
            cells = (mark, _location(result), result.type, printable_line(result.sample or HIDDEN))
            table.add_row(*(Text(cell, style) for cell in cells))
        table.move_cursor(row=max(0, min(row, table.row_count - 1)))
        table.border_title = f"{self._review.left():,} left"
        self._show_detail()

    def _show_detail(self, problem: str = "") -> None:
        """Show the line of the selected finding, and why an action failed."""
        result = self._result
        shown = Text("no findings left" if result is None else self._detail(result))
        if problem:
            shown.append(f"\n{problem}", "bold red")
        self.query_one("#text", Static).update(shown)

    def _detail(self, result: Result) -> str:
        width = max(self.size.width - 6, 20)
        size = len(printable_line(result.sample or HIDDEN))
        line, ((gap, carets),) = draw_carets(result.excerpt, [(result.mark, size)], width)
        lines = [_location(result), line, f"{gap}{carets}"]
        if self._explains:
            lines += self._review.explain(result)
        return "\n".join(filter(None, lines))


def _location(result: Result) -> str:
    return f"{printable(result.path)}:{printable(place_of(result))}"


def _named(result: Result) -> str:
    return f"{result.type} in {_location(result)}"
