"use strict";

// Forms that submit by themselves, questions before changes, copies, and the link that signs in.
for (const select of document.querySelectorAll("[data-submit]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}

for (const form of document.querySelectorAll("form[data-confirm]")) {
  form.addEventListener("submit", event => {
    if (!confirm(form.dataset.confirm)) event.preventDefault();
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

const menu = document.querySelector("details.menu");
if (menu && matchMedia("(max-width: 56rem)").matches) menu.open = false;

const entrance = document.getElementById("sign-in");

function enterByLink() {
  const code = location.hash.slice(1);
  if (!entrance || !code) return;
  history.replaceState(null, "", location.pathname + location.search);
  entrance.elements.token.value = code;
  entrance.requestSubmit();
}

// A link that is opened in a tab with this page changes nothing but the part with the code.
addEventListener("hashchange", enterByLink);
enterByLink();

// Asks the service with the session of this page.
async function ask(address, body) {
  const headers = { "X-CSRF-Token": document.body.dataset.csrf };
  if (!(body instanceof FormData)) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(body);
  }
  const answer = await fetch(address, { method: "POST", headers, body });
  if (answer.ok) return answer;
  const { detail } = await answer.json().catch(() => ({ detail: answer.statusText }));
  throw new Error(detail);
}

// Runs the latest call once the user pauses; the answer of an earlier one is dropped.
function latest(work, show, fail, pause = 250) {
  let timer = 0;
  let turn = 0;
  return () => {
    clearTimeout(timer);
    const mine = ++turn;
    timer = setTimeout(async () => {
      try {
        const answer = await work();
        if (mine === turn) show(answer);
      } catch (error) {
        if (mine === turn) fail(error);
      }
    }, pause);
  };
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
