"use strict";
const table = document.querySelector("table.findings"), summary = document.querySelector("#summary");
const tools = document.querySelector(".tools"), shown = document.querySelector("#shown");
const text = document.querySelector("#text"), group = document.querySelector("#group");
const rows = [...table.querySelectorAll("tr.finding")];
const choices = ["type", "folder", "level"].map(name => [name, document.querySelector(`#${name}`)]);
tools.before(summary);
if (!rows.length) tools.hidden = table.hidden = true;
for (const [name, select] of choices)
  for (const value of [...new Set(rows.map(row => row.dataset[name]))].sort())
    select.add(new Option(value, value));
function filter() {
  const wanted = text.value.toLowerCase();
  let count = 0;
  for (const row of rows) {
    const hit = choices.every(([name, select]) => !select.value || row.dataset[name] === select.value)
      && (!wanted || row.textContent.toLowerCase().includes(wanted));
    row.hidden = !hit;
    count += hit;
  }
  shown.textContent = `${count} of ${rows.length} shown`;
  arrange();
}
function compare(one, other) {
  return one.localeCompare(other, undefined, { numeric: true });
}
function arrange() {
  table.querySelectorAll("tr.group").forEach(row => row.remove());
  const body = table.tBodies[0], name = group.value;
  if (!name) {
    for (const row of rows) body.append(row);
    return;
  }
  const groups = new Map();
  for (const row of rows) {
    const value = row.dataset[name];
    if (!groups.has(value)) groups.set(value, []);
    groups.get(value).push(row);
  }
  for (const value of [...groups.keys()].sort(compare)) {
    const members = groups.get(value), count = members.filter(row => !row.hidden).length;
    if (count) {
      const head = body.insertRow(), cell = document.createElement("th");
      head.className = "group";
      cell.colSpan = 6;
      cell.scope = "rowgroup";
      cell.textContent = `${value}: ${count}`;
      head.append(cell);
    }
    for (const row of members) body.append(row);
  }
}
for (const control of [text, group, ...choices.map(([, select]) => select)]) control.addEventListener("input", filter);
table.querySelectorAll("thead th").forEach((head, column, heads) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = head.textContent;
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const key = row => row.cells[column].textContent;
    rows.sort((one, other) => sign * compare(key(one), key(other)));
    arrange();
  });
});
filter();
