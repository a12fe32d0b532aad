// Shows openapi.json as a page. All text enters as text nodes, so nothing in it can become markup.

const VERBS = ["get", "post", "put", "patch", "delete"];

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Text in which `this` is code.
function prose(text) {
  return (text ?? "").split("`").map((part, place) => (place % 2 ? make("code", {}, part) : part));
}

function resolve(spec, schema) {
  const path = schema?.$ref;
  return path ? path.slice(2).split("/").reduce((at, part) => at[part], spec) : schema ?? {};
}

function typeName(spec, schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((choice) => typeName(spec, choice)).join(" | ");
  if (schema.type === "array") return `${typeName(spec, schema.items)}[]`;
  return schema.format ? `${schema.type} (${schema.format})` : schema.type ?? "any";
}

function table(headings, rows) {
  if (!rows.length) return null;
  const head = make("tr", {}, ...headings.map((text) => make("th", {}, text)));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, ...[cell].flat()))));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...body));
}

function fields(spec, schema) {
  const whole = resolve(spec, schema);
  const required = new Set(whole.required ?? []);
  return Object.entries(whole.properties ?? {}).map(([name, field]) => [
    make("code", {}, name + (required.has(name) ? " *" : "")),
    typeName(spec, field),
    prose(field.description),
  ]);
}

function media(spec, title, content) {
  return Object.entries(content ?? {}).flatMap(([kind, { schema }]) => {
    const rows = fields(spec, schema);
    const named = rows.length ? kind : `${kind} ${typeName(spec, schema)}`.trim();
    return [make("h3", {}, `${title}: ${named}`), table(["field", "type", ""], rows)];
  });
}

function call(spec, path, verb, operation) {
  const parameters = (operation.parameters ?? []).map((parameter) => [
    make("code", {}, parameter.name + (parameter.required ? " *" : "")),
    `${parameter.in}, ${typeName(spec, parameter.schema)}`,
    prose(parameter.description),
  ]);
  const inside = make("div", {}, operation.description ? make("p", {}, ...prose(operation.description)) : null);
  const list = table(["name", "where, type", ""], parameters);
  if (list) inside.append(make("h3", {}, "Parameters"), list);
  const parts = [...media(spec, "Body", resolve(spec, operation.requestBody).content)];
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    if (status !== "default") parts.push(...media(spec, status, resolve(spec, response).content));
  }
  inside.append(...parts.filter(Boolean));
  return make(
    "details",
    { id: operation.operationId },
    make(
      "summary", {},
      make("span", { class: `verb ${verb}` }, verb.toUpperCase()),
      make("code", {}, path),
      make("span", { class: "say" }, ...prose(operation.summary)),
    ),
    inside,
  );
}

function show(spec) {
  document.getElementById("lead").textContent = `${spec.info.description ?? ""}\nVersion ${spec.info.version}`;
  const groups = new Map((spec.tags ?? []).map((tag) => [tag.name, { tag, calls: [], links: [] }]));
  for (const [path, operations] of Object.entries(spec.paths)) {
    for (const verb of VERBS.filter((name) => operations[name])) {
      const operation = operations[verb];
      const name = operation.tags?.[0] ?? "Other";
      if (!groups.has(name)) groups.set(name, { tag: { name }, calls: [], links: [] });
      const group = groups.get(name);
      group.calls.push(call(spec, path, verb, operation));
      const shown = path.replace(/^\/v1/, "").replace(/\{(\w*_)?id\}/g, "{id}");
      const label = make("span", { class: `verb ${verb}` }, verb.toUpperCase());
      group.links.push(make("a", { href: `#${operation.operationId}`, title: path }, label, make("span", {}, shown)));
    }
  }
  const contents = document.getElementById("contents");
  const calls = document.getElementById("calls");
  for (const { tag, calls: cards, links } of groups.values()) {
    if (!cards.length) continue;
    contents.append(make("h2", {}, tag.name), ...links);
    calls.append(make("h2", {}, tag.name), tag.description ? make("p", {}, tag.description) : "", ...cards);
  }
  const rows = (spec["x-problems"] ?? []).map(({ kind, status, title }) =>
    make("tr", { id: `problem-${kind}` },
      make("td", {}, make("code", {}, kind)), make("td", {}, String(status)), make("td", {}, title)));
  document.querySelector("#problems tbody").append(...rows);
  document.getElementById("problems").hidden = rows.length === 0;
  contents.append(make("h2", {}, "Problems"), make("a", { href: "#problems" }, "All kinds"));
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
  target?.scrollIntoView();
}

const answer = await fetch("openapi.json");
show(await answer.json());
addEventListener("hashchange", openTarget);
openTarget();
