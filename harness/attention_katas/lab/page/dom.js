// Elements in one line: h("p.note", {title: "x"}, "text", child).

const SVG = "http://www.w3.org/2000/svg";

function build(make, what, rest) {
  const [tag, ...classes] = what.split(".");
  const el = make(tag);
  if (classes.length) el.setAttribute("class", classes.join(" "));
  const first = rest[0];
  const plain = first && typeof first === "object" && !first.nodeType && !Array.isArray(first);
  for (const [name, value] of plain ? Object.entries(first) : []) set(el, name, value);
  el.append(...nodes(plain ? rest.slice(1) : rest, el));
  return el;
}

// The nodes to append; "d_k" in running text is set as mathematics.
function nodes(children, el) {
  const there = children.flat(9).filter((one) => one != null && one !== false);
  if (el.namespaceURI === SVG || el.tagName === "CODE" || el.tagName === "PRE" || el.tagName === "OPTION") return there;
  return there.flatMap((one) => (typeof one === "string" && one.includes("d_k") ? typeset(one) : [one]));
}

const typeset = (text) => text.split("d_k").flatMap((part, i) => (i ? [h("span.math", h("i", "d"), h("sub", "k")), part] : [part]));

function set(el, name, value) {
  if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
  else if (name === "style") Object.assign(el.style, value);
  else if (value === true) el.setAttribute(name, "");
  else if (value != null && value !== false) el.setAttribute(name, value);
}

export const h = (what, ...rest) => build((tag) => document.createElement(tag), what, rest);
export const s = (what, ...rest) => build((tag) => document.createElementNS(SVG, tag), what, rest);

export function fill(el, ...children) {
  el.replaceChildren(...nodes(children, el));
  return el;
}

let count = 0;
export const unique = (stem) => `${stem}-${++count}`;

// A row of choices: radio buttons that look like a switch.
export function choice(label, options, value, change) {
  const name = unique("choice");
  const inputs = options.map(([key, text, title]) => {
    const input = h("input", { type: "radio", name, value: key, checked: key === value });
    input.addEventListener("change", () => change(key));
    return h("label", { title }, input, h("span", text));
  });
  const el = h("fieldset.choice", h("legend", label), h("div", inputs));
  el.choose = (key) => inputs.forEach((one) => (one.firstChild.checked = one.firstChild.value === key));
  return el;
}

export function toggle(label, value, change) {
  const input = h("input", { type: "checkbox", checked: value, role: "switch", "aria-label": label });
  input.addEventListener("change", () => change(input.checked));
  return h("label.toggle", input, h("span.knob"), h("span", label));
}

// A slider over a list of values, with its value as text beside it.
export function slider(label, values, value, change, words = String) {
  const input = h("input", { type: "range", "aria-label": label, min: 0, max: values.length - 1, step: 1, value: values.indexOf(value) });
  const output = h("output");
  const say = () => {
    const chosen = values[+input.value];
    output.textContent = words(chosen);
    input.setAttribute("aria-valuetext", words(chosen));
    return chosen;
  };
  say();
  input.addEventListener("input", () => change(say()));
  const el = h("label.slider", h("span", label), input, output);
  el.choose = (chosen) => ((input.value = values.indexOf(chosen)), say());
  return el;
}

export const button = (text, act, kind = "") => h(`button${kind}`, { type: "button", onclick: act }, text);

const still = matchMedia("(prefers-reduced-motion: reduce)");
export const moves = () => !still.matches;
