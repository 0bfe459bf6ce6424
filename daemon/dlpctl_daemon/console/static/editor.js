"use strict";

const editor = document.getElementById("editor");
const draft = document.getElementById("draft");
const state = document.getElementById("lint-state");
const result = document.getElementById("result");

function goToLine(line) {
  const lines = draft.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  draft.focus();
  draft.setSelectionRange(start, start + (lines[line - 1] || "").length);
}

function showProblems(problems) {
  const list = document.getElementById("lint");
  list.replaceChildren(...problems.map(problem => {
    const [, line, text] = /^draft:(\d+): (.*)$/s.exec(problem.message) || [, , problem.message];
    const item = element("li", "", problem.level);
    item.append(element("strong", `${problem.level}: `));
    if (line) {
      const button = element("button", `line ${line}`);
      button.type = "button";
      button.addEventListener("click", () => goToLine(Number(line)));
      item.append(button, " ");
    }
    item.append(problem.path ? `${problem.path}: ${text}` : text);
    return item;
  }));
  const errors = problems.filter(problem => problem.level === "error").length;
  state.textContent = problems.length
    ? `${problems.length} ${problems.length === 1 ? "problem" : "problems"}, ${errors} in error`
    : "No problems found.";
}

const lint = latest(
  async () => (await ask("/console/lint", { draft: draft.value })).json(),
  showProblems,
  error => { state.textContent = error.message; },
);
draft.addEventListener("input", lint);
lint();

async function show(button, work) {
  button.disabled = true;
  try {
    result.replaceChildren(...await work());
  } catch (error) {
    result.replaceChildren(element("p", error.message));
  }
  button.disabled = false;
  result.hidden = false;
  result.focus();
}

function compared({ rules, lines }) {
  const signs = { added: "+ ", removed: "- ", same: "  " };
  const list = element("ul");
  list.append(...rules.map(rule => element("li", rule)));
  const pre = element("pre", "", "diff");
  pre.tabIndex = 0;
  pre.append(...lines.map(({ css_class, text }) => element("span", signs[css_class] + text, css_class)));
  const heading = element("h2", "Comparison");
  return rules.length ? [heading, list, pre] : [heading, element("p", "No difference.")];
}

const address = editor.dataset.policy;
if (address) {
  const compare = document.getElementById("compare");
  const replay = document.getElementById("replay");
  compare.addEventListener("click", () => show(compare, async () =>
    compared(await (await ask(`${address}/compare`, { draft: draft.value })).json())));
  replay.addEventListener("click", () => show(replay, async () => {
    const checks = Number(document.getElementById("checks").value);
    const answer = await ask(`${address}/replay`, { draft: draft.value, checks });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return [...page.body.childNodes];
  }));
}
