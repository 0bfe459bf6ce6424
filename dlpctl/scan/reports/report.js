"use strict";
const rows = [...document.querySelectorAll("tbody tr.finding")];
const text = document.querySelector("#text"), type = document.querySelector("#type"), level = document.querySelector("#level");
const shown = document.querySelector("#shown");
const names = [...new Set(rows.map(row => row.dataset.type))].sort();
for (const name of names) type.add(new Option(name, name));
function filter() {
  const wanted = text.value.toLowerCase();
  let count = 0;
  for (const row of rows) {
    const hit = (!type.value || row.dataset.type === type.value)
      && (!level.value || row.dataset.level === level.value)
      && (!wanted || row.textContent.toLowerCase().includes(wanted));
    row.hidden = !hit;
    count += hit;
  }
  shown.textContent = `${count} of ${rows.length} shown`;
}
for (const control of [text, type, level]) control.addEventListener("input", filter);
document.querySelectorAll("th").forEach((head, column) => head.addEventListener("click", () => {
  const down = head.dataset.down !== "yes";
  head.dataset.down = down ? "yes" : "no";
  const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent;
  const sign = down ? 1 : -1;
  rows.sort((one, other) => sign * key(one).localeCompare(key(other), undefined, { numeric: true }));
  rows[0]?.parentNode.append(...rows);
}));
filter();
