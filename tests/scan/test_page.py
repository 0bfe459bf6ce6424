"""The HTML report in a real browser: accessible, dark, on a phone, filtered and sorted.

It needs Chromium, and axe-core in a folder that AXE_CORE names: `npm install axe-core`.
"""

from __future__ import annotations

import pytest

from dlpctl.scan.reports import Setting, report_named
from dlpctl.scan.results import Result, Summary

pytestmark = pytest.mark.slow


def page() -> str:
    """A report with findings of all levels, long paths and an unreadable file."""
    out: list[str] = []
    about = [("Scanned", "/home/jane/" + "project/" * 20), ("Commit", "c" * 40)]
    report = report_named("html", out.append, Setting("1.2.3", 0.5, about=about))
    summary = Summary()
    summary.files, summary.bytes = 7, 4096
    for number in range(40):
        secret = number % 3 == 0
        result = Result(
            path=f"src/{'folder/' * (number % 5)}{'name' * number}.py",
            line=number + 1,
            column=6,
            end_line=number + 1,
            end_column=20,
            start=0,
            end=14,
            type="CLOUD_KEY" if secret else "EMAIL",
            category="SECRETS" if secret else "PII",
            score=(0.9, 0.5, 0.1)[number % 3],
            pattern_id="aws-access-key-id" if secret else "email",
            label="AWS access key id" if secret else "E-mail address",
            sample="AKIA********" if secret else None,
            identity=str(number),
            excerpt=f"{'x' * 120}AKIA********" if secret else "",
            mark=120,
        )
        summary.add(result)
        report.add(result)
    summary.remarks.append("This is a shallow clone.")
    report.finish(summary)
    return "".join(out)


MODES = {
    "light": ("--blink-settings=preferredColorScheme=1",),
    "dark": ("--blink-settings=preferredColorScheme=0",),
    "phone": ("--window-size=390,800",),
}


@pytest.mark.parametrize("mode", MODES)
def test_axe_finds_no_violation_and_nothing_overflows(in_browser, mode: str) -> None:
    found = in_browser(
        page(),
        """async () => {
            const result = await axe.run();
            return {
                violations: result.violations.map(one => [one.id, one.nodes.map(n => n.html)]),
                passes: result.passes.length,
                dark: matchMedia("(prefers-color-scheme: dark)").matches,
                width: innerWidth,
                overflow: document.documentElement.scrollWidth - innerWidth,
            };
        }""",
        *MODES[mode],
    )
    assert found["violations"] == []
    assert found["passes"] > 10
    assert found["overflow"] <= 0
    assert found["dark"] is (mode == "dark")
    assert mode != "phone" or found["width"] < 600


def test_it_is_summed_up_filtered_and_sorted_by_keyboard(in_browser) -> None:
    found = in_browser(
        page(),
        """async () => {
            const shown = () => document.querySelector("#shown").textContent;
            const first = () => document.querySelector("tr.finding:not([hidden])").textContent;
            const select = (id, value) => {
                const one = document.getElementById(id);
                one.value = value;
                one.dispatchEvent(new Event("input"));
            };
            const summary = document.querySelector("#summary").getBoundingClientRect().top;
            const all = shown();
            select("type", "CLOUD_KEY");
            const keys = shown();
            select("type", "");
            select("group", "folder");
            const groups = [...document.querySelectorAll("tr.group")].map(row => row.textContent);
            const violations = (await axe.run()).violations.map(one => one.id);
            const under = document.querySelector("tr.group").nextElementSibling.dataset.folder;
            select("group", "");
            const ungrouped = document.querySelectorAll("tr.group").length;
            const buttons = [...document.querySelectorAll("thead button")];
            buttons.at(-1).focus();
            buttons.at(-1).click();
            const sorted = document.querySelector("[aria-sort]").getAttribute("aria-sort");
            return {
                all, keys, groups, violations, under, ungrouped, sorted, least: first(),
                above: summary < document.querySelector(".findings").getBoundingClientRect().top,
                focused: document.activeElement === buttons.at(-1),
            };
        }""",
    )
    assert found["all"] == "40 of 40 shown"
    assert found["keys"] == "14 of 40 shown"
    assert len(found["groups"]) == 5
    assert found["groups"][0] == "src: 8"
    assert (found["under"], found["ungrouped"], found["violations"]) == ("src", 0, [])
    assert found["sorted"] == "ascending"
    assert "0.10" in found["least"]
    assert found["above"]
    assert found["focused"]
