"use strict";

const playground = document.getElementById("playground");
const [policy, destination, text, masked, file, verdict, found, copy] = [
  "policy", "destination", "text", "masked", "file", "verdict", "found", "copy",
].map(id => document.getElementById(id));
const words = { ALLOWED: "allowed", ALLOWED_WITH_MASKING: "masked", BLOCKED: "blocked" };

function show(preview) {
  const word = words[preview.decision];
  verdict.replaceChildren(element("span", word, `badge ${word}`), ` ${preview.summary}`);
  verdict.className = "lead";
  found.hidden = preview.detected.length === 0;
  found.tBodies[0].replaceChildren(...preview.detected.map(each => {
    const row = element("tr");
    const cells = [element("th", each.type), element("td", each.count, "number")];
    cells[0].scope = "row";
    row.append(...cells, element("td", each.sample === null ? "hidden" : each.sample));
    return row;
  }));
}

function fail(error) {
  verdict.textContent = error.message;
  masked.value = "";
  found.hidden = true;
}

const preview = latest(
  async () => (await ask("/console/preview/text", {
    org: playground.dataset.org,
    policy: policy.value,
    destination: destination.value,
    text: text.value,
  })).json(),
  answer => {
    copy.replaceChildren();
    masked.value = answer.masked_content === null ? "(blocked)" : answer.masked_content;
    show(answer);
  },
  fail,
);

function offerCopy({ name, masked_file: encoded }) {
  if (encoded === null) return;
  const bytes = Uint8Array.from(atob(encoded), character => character.charCodeAt(0));
  const link = element("a", `Download the masked copy of ${name || "the file"}`);
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name ? name.replace(/(\.[^.]*)?$/, ".masked$1") : "masked";
  copy.append(link);
}

async function sendFile() {
  const chosen = file.files[0];
  copy.replaceChildren();
  if (!chosen) return;
  if (chosen.size > Number(playground.dataset.largest)) {
    fail(new Error("The file is larger than the service takes."));
    return;
  }
  verdict.textContent = `Inspecting ${chosen.name} ...`;
  const form = new FormData();
  form.append("org", playground.dataset.org);
  form.append("policy", policy.value);
  form.append("destination", destination.value);
  form.append("file", chosen);
  try {
    const answer = await (await ask("/console/preview/file", form)).json();
    show(answer);
    offerCopy(answer);
  } catch (error) {
    fail(error);
  }
}

playground.addEventListener("submit", event => event.preventDefault());
text.addEventListener("input", preview);
for (const select of [policy, destination]) {
  select.addEventListener("change", () => (file.files.length ? sendFile() : preview()));
}
file.addEventListener("change", sendFile);
preview();
