"use strict";

// Everything is put in as text, never as markup.
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name === "class") element.className = value;
    else if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

let description;

function resolve(schema) {
  while (schema && schema.$ref) {
    schema = schema.$ref.slice(2).split("/").reduce((at, step) => at[step], description);
  }
  return schema || {};
}

function kind(schema) {
  const name = schema.$ref ? schema.$ref.split("/").pop() : "";
  const found = resolve(schema);
  if (found.enum) return found.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (found.anyOf) return found.anyOf.map(kind).join(" | ");
  const types = [].concat(found.type || "any");
  return types.map((type) => (type === "array" ? `array of ${kind(found.items || {})}` : name && type === "object" ? name : type)).join(" | ");
}

function fields(schema, depth) {
  const found = resolve(schema);
  if ([].concat(found.type).includes("array")) return fields(found.items || {}, depth);
  if (!found.properties) return null;
  const rows = Object.entries(found.properties).map(([name, field]) => {
    const inner = depth < 3 ? fields(field, depth + 1) : null;
    const said = [resolve(field).description || ""];
    if (inner) said.push(make("details", {}, make("summary", {}, "fields"), inner));
    const required = (found.required || []).includes(name) ? "" : " (optional)";
    return make("tr", {}, make("td", {}, make("code", {}, name), required), make("td", {}, kind(field)), make("td", {}, ...said));
  });
  return make("table", {}, make("tbody", {}, ...rows));
}

function example(schema, depth) {
  const found = resolve(schema);
  if ("default" in found) return found.default;
  if (found.enum) return found.enum[0];
  if (found.anyOf) return example(found.anyOf[0], depth);
  const type = [].concat(found.type)[0];
  if (type === "object") {
    const wanted = found.required || [];
    return Object.fromEntries(
      Object.entries(found.properties || {})
        .filter(([name]) => depth < 3 && wanted.includes(name))
        .map(([name, field]) => [name, example(field, depth + 1)]));
  }
  if (type === "array") return [example(found.items || {}, depth + 1)];
  return { integer: 0, number: 0, boolean: true }[type] ?? "...";
}

function authorization(operation) {
  const scheme = Object.keys((operation.security || [])[0] || {})[0];
  if (!scheme) return { scheme: null, name: "", value: "" };
  const key = document.forms.keys.elements[scheme].value.trim();
  const said = description.components.securitySchemes[scheme];
  return said.type === "apiKey"
    ? { scheme, name: said.name, value: key }
    : { scheme, name: "Authorization", value: `Bearer ${key}` };
}

function show(output, text) {
  output.hidden = false;
  output.textContent = text;
}

async function send(path, method, operation, form, output) {
  let query = new URLSearchParams();
  let address = path;
  for (const parameter of operation.parameters) {
    const value = form.elements[parameter.name].value;
    if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(value));
    else if (value) query.set(parameter.name, value);
  }
  const headers = {};
  const key = authorization(operation);
  if (key.scheme) headers[key.name] = key.value;
  let body;
  const media = operation.requestBody ? Object.keys(operation.requestBody.content)[0] : null;
  if (media === "application/json") {
    headers["Content-Type"] = media;
    body = form.elements.body.value;
  } else if (media) {
    body = new FormData();
    for (const name of Object.keys(resolve(operation.requestBody.content[media].schema).properties)) {
      const field = form.elements[`form.${name}`];
      if (field.type === "file") { if (field.files[0]) body.set(name, field.files[0]); } else if (field.value) body.set(name, field.value);
    }
  }
  const asked = query.size ? `${address}?${query}` : address;
  show(output, `${method.toUpperCase()} ${asked} ...`);
  try {
    const answer = await fetch(new URL(asked.slice(1), document.baseURI), { method: method.toUpperCase(), headers, body });
    let text = await answer.text();
    try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not every answer is JSON */ }
    const shown = [...answer.headers].filter(([name]) => /^(ratelimit|retry|x-)/.test(name)).map(([name, value]) => `${name}: ${value}`);
    show(output, [`${answer.status} ${answer.statusText}`, ...shown, "", text].join("\n"));
  } catch (problem) {
    show(output, `no answer: ${problem.message}`);
  }
}

function input(name, label, schema) {
  const found = resolve(schema);
  if (found.enum) {
    return make("label", {}, label, make("select", { name }, make("option", { value: "" }), ...found.enum.map((one) => make("option", { value: one }, one))));
  }
  return make("label", {}, label, make("input", { name, type: found.contentMediaType ? "file" : "text", placeholder: found.description || "" }));
}

function trial(path, method, operation) {
  const form = make("form", { autocomplete: "off" });
  for (const parameter of operation.parameters) form.append(input(parameter.name, parameter.name, parameter.schema));
  for (const [media, content] of Object.entries((operation.requestBody || {}).content || {})) {
    if (media === "application/json") {
      form.append(make("label", {}, "body", make("textarea", { name: "body", spellcheck: false, value: JSON.stringify(example(content.schema, 0), null, 2) })));
    } else {
      for (const [name, field] of Object.entries(resolve(content.schema).properties)) form.append(input(`form.${name}`, name, field));
    }
  }
  const output = make("pre", { hidden: true });
  form.append(make("button", { type: "submit" }, "Send"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(path, method, operation, form, output);
  });
  return make("div", {}, make("h3", {}, "Try it"), form, output);
}

function answers(operation) {
  const rows = Object.entries(operation.responses).map(([status, given]) => {
    const answer = resolve(given);
    const schema = Object.values(answer.content || {}).map((one) => one.schema)[0];
    const inner = schema && status < 300 ? fields(schema, 0) : null;
    return make("tr", {}, make("td", {}, status), make("td", {}, answer.description, schema ? `: ${kind(schema)}` : "", inner ? make("details", {}, make("summary", {}, "fields"), inner) : null));
  });
  return make("table", {}, make("tbody", {}, ...rows));
}

function detail(path, method, operation) {
  const parts = [];
  const scheme = authorization(operation);
  parts.push(make("p", { class: "about" }, scheme.scheme ? `Needs ${description.components.securitySchemes[scheme.scheme].description}, in the header ${scheme.name}.` : "Needs no credential."));
  for (const [media, content] of Object.entries((operation.requestBody || {}).content || {})) {
    parts.push(make("h3", {}, `Body: ${media}`), fields(content.schema, 0));
  }
  parts.push(make("h3", {}, "Answers"), answers(operation), trial(path, method, operation));
  return parts;
}

function card(path, method, operation) {
  const inside = make("div", {});
  const made = make("details", { class: "operation", id: operation.operationId },
    make("summary", {}, make("span", { class: `method ${method}` }, method), make("code", {}, path), make("span", { class: "said" }, operation.summary)), inside);
  made.dataset.text = [method, path, operation.summary, operation.tags, Object.keys(operation.responses)].join(" ").toLowerCase();
  made.addEventListener("toggle", () => { if (made.open && !inside.childNodes.length) inside.append(...detail(path, method, operation)); });
  return made;
}

function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const section of document.querySelectorAll("section")) {
    let some = false;
    for (const one of section.querySelectorAll("details.operation")) {
      one.hidden = !words.every((word) => one.dataset.text.includes(word));
      some = some || !one.hidden;
    }
    section.hidden = !some;
  }
}

async function begin() {
  const main = document.getElementById("operations");
  try {
    description = await (await fetch("openapi.json")).json();
  } catch (problem) {
    main.replaceChildren(make("p", {}, `The description cannot be loaded: ${problem.message}`));
    return;
  }
  document.getElementById("version").textContent = description.info.version;
  document.getElementById("about").textContent = description.info.description;
  const sections = description.tags.map((tag) => {
    const cards = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.entries(methods).filter(([, operation]) => operation.tags.includes(tag.name)).map(([method, operation]) => card(path, method, operation)));
    const id = tag.name.toLowerCase().replace(/\W+/g, "-");
    document.getElementById("tags").append(make("a", { href: `#${id}` }, tag.name));
    return make("section", { id }, make("h2", {}, tag.name), make("p", { class: "about" }, tag.description), ...cards);
  });
  main.replaceChildren(...sections);
  document.forms.keys.elements.find.addEventListener("input", (event) => find(event.target.value));
  document.forms.keys.addEventListener("submit", (event) => event.preventDefault());
  const chosen = location.hash && document.getElementById(location.hash.slice(1));
  if (chosen) { chosen.open = true; chosen.scrollIntoView(); }
}

begin();
