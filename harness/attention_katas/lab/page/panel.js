// The parts of every panel: heading, text, banners, figure, footer, and buttons that save the picture.

import { h, s, fill, button, unique } from "./dom.js";
import { banners, provenance, quiet, tutor } from "./notes.js";
import { surface, theme, THEMES } from "./numbers.js";

export function panel(el, hub, { id, number, title, lede, note }) {
  const heading = unique("title");
  const parts = {
    controls: h("div.controls"),
    banners: h("div.banners"),
    figure: h("div.figure"),
    sources: h("div.sources"),
    tutor: h("div.tutors"),
    quiet: h("div.rest"),
    flag: h("p.flag", { "aria-hidden": "true" }),
  };
  let steps = {};
  const save = h("div.save",
    button("PNG", () => savePicture(parts.figure, id, "png", credits(title, steps)), ".small"),
    button("SVG", () => savePicture(parts.figure, id, "svg", credits(title, steps)), ".small"));
  save.setAttribute("aria-label", `save the picture of ${title}`);
  save.setAttribute("role", "group");
  el.id = id;
  el.setAttribute("class", "panel");
  el.setAttribute("aria-labelledby", heading);
  fill(el,
    h("div.head", h("span.number", { "aria-hidden": "true" }, number), h("h2", { id: heading }, title), h("p.lede", lede)),
    parts.controls, parts.flag, parts.figure,
    parts.banners, parts.tutor,
    h("div.under", parts.sources, save),
    parts.quiet,
    note ? h("p.note", note) : null);
  // One line above the figure is always reserved. Everything else that appears is below the figure,
  // so that the figure does not move.
  const beside = () => {
    const { boxes, rest } = tutor(hub, steps, title, id);
    fill(parts.tutor, boxes);
    fill(parts.quiet, quiet(rest));
    fill(parts.sources, parts.unsourced ? null : provenance(steps, hub));
    el.classList.toggle("taught", boxes.length > 0);
    const messages = [...parts.banners.children, ...boxes].map((el_) => el_.dataset.says).filter(Boolean);
    parts.flag.textContent = messages.length ? `${messages[0]}${messages.length > 1 ? `, and ${messages.length - 1} more` : ""}: see below ↓` : "";
    parts.flag.classList.toggle("bad", Boolean(parts.banners.querySelector(".banner")));
  };
  // A banner with the same text stays in the document, since screen readers read every new alert.
  // Details that are open stay open.
  const banner = (next) => {
    const before = [...parts.banners.children];
    if (next.map((el_) => el_.textContent).join("\n") === before.map((el_) => el_.textContent).join("\n")) return;
    const open = before.some((el_) => el_.open);
    for (const el_ of next) if (open && el_.tagName === "DETAILS") el_.open = true;
    const same = (el_) => before.find((old) => old.getAttribute("role") === "alert" && old.textContent === el_.textContent);
    const children = next.map((el_) => same(el_) || el_);
    before.filter((el_) => !children.includes(el_)).forEach((el_) => el_.remove());
    children.forEach((el_, i) => parts.banners.children[i] === el_ || parts.banners.insertBefore(el_, parts.banners.children[i] || null));
  };
  // No answer: the figure still shows an old one.
  hub.on("unclear", (message, name) => {
    if (name !== id) return;
    el.classList.add("unclear");
    el.dataset.states = "unclear";
    steps = {};
    banner([h("div.banner.bad", { role: "alert", "data-says": "No answer" }, h("strong", "No answer"), `: ${message}. `, h("p.fine", "The picture shows an earlier answer."))]);
    beside();
  });
  hub.on("verdict", beside);
  hub.on("saved", beside);
  // Called after every answer: shows who computed it, and what is wrong with it.
  parts.tell = (now, answer = {}) => {
    steps = now;
    el.classList.remove("unclear");
    banner(banners(now));
    beside();
    el.dataset.generation = hub.generation;
    el.dataset.answers = +(el.dataset.answers || 0) + 1;
    el.dataset.states = Object.values(now).map((step) => step.state).join(" ");
    return answer;
  };
  return parts;
}

const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "paint-order", "opacity", "fill-opacity",
  "stroke-opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "visibility", "display"];

// A figure as one SVG that looks the same without the page: boxes, drawings and texts.
export function standalone(figure, credits = {}) {
  const home = figure.getBoundingClientRect();
  const width = Math.ceil(home.width);
  const below = footer(credits, width, Math.ceil(home.height));
  const height = Math.ceil(home.height) + below.height;
  const root = s("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    s("rect", { width, height, fill: `rgb(${THEMES[theme()].paper})` }));
  const place = (at) => ({ x: (at.left - home.left).toFixed(1), y: (at.top - home.top).toFixed(1), width: at.width.toFixed(1), height: at.height.toFixed(1) });
  root.append(...boxes(figure, place), ...drawings(figure, place), ...words(figure, home), ...below.parts);
  return new XMLSerializer().serializeToString(root);
}

// The lines below a saved picture: who computed it, and when.
function credits(title, steps) {
  const all = Object.values(steps);
  const colour = (name) => getComputedStyle(surface.el).getPropertyValue(name).trim();
  const legend = [];
  if (all.some((step) => step.state === "yours")) legend.push(["yours", colour("--yours")], ["the reference, a thin mark", colour("--ref")]);
  if (all.some((step) => step.state !== "yours")) legend.push(["drawn by the reference", colour("--stand")]);
  const states = { yours: "yours", unwritten: "the reference, not written yet", frozen: "the reference" };
  const who = [...new Map(all.map((step) => [step.function, `${step.function}: ${step.file} (${states[step.state] || "no answer in this save"})`])).values()];
  const date = new Date().toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
  return { legend, lines: [`${title}. ${who.length ? `Computed by ${who.join(", ")}` : "An earlier answer"}.`, `Attention Katas, ${date}`], soft: colour("--soft") };
}

function footer({ legend = [], lines = [], soft }, width, top) {
  const style = { fill: soft, fontFamily: "system-ui, sans-serif", fontSize: "12px" };
  const parts = [];
  let y = top + 20;
  let x = 22;
  for (const [name, colour] of legend) {
    const wide = 34 + name.length * 6.6;
    if (x > 22 && x + wide > width) [x, y] = [22, y + 18];
    parts.push(s("rect", { x, y: y - 9, width: 20, height: 9, rx: 2, fill: colour }), s("text", { x: x + 27, y, style }, name));
    x += wide + 8;
  }
  const most = Math.max(30, Math.floor((width - 44) / 6.4));
  for (const line of lines) {
    let row = "";
    for (const word of [...line.split(" "), null]) {
      if (word !== null && `${row} ${word}`.length <= most) row = row ? `${row} ${word}` : word;
      else {
        y += 18;
        parts.push(s("text", { x: 22, y, style }, row));
        row = word;
      }
    }
  }
  return { parts, height: y + 16 - top };
}

const clear = (colour) => colour === "transparent" || /^rgba\(.*, 0\)$/.test(colour);

function boxes(figure, place) {
  return [...figure.querySelectorAll("*")].filter((one) => !one.closest("svg")).flatMap((one) => {
    const style = getComputedStyle(one);
    const at = one.getBoundingClientRect();
    const framed = parseFloat(style.borderLeftWidth) && parseFloat(style.borderTopWidth);
    if (!at.width || !at.height || (clear(style.backgroundColor) && !framed)) return [];
    return [s("rect", { ...place(at), rx: parseFloat(style.borderTopLeftRadius) || null, opacity: style.opacity,
      fill: clear(style.backgroundColor) ? "none" : style.backgroundColor, stroke: framed ? style.borderTopColor : null })];
  });
}

function drawings(figure, place) {
  return [...figure.querySelectorAll("svg")].map((drawing) => {
    const copy = drawing.cloneNode(true);
    const from = [drawing, ...drawing.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((one, i) => {
      const style = getComputedStyle(from[i]);
      const text = STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";");
      for (const name of ["class", "tabindex"]) one.removeAttribute(name);
      one.style.cssText = text;
    });
    for (const [name, value] of Object.entries(place(drawing.getBoundingClientRect()))) copy.setAttribute(name, value);
    copy.setAttribute("overflow", "visible");
    return copy;
  });
}

// Texts line by line, broken as on the page.
function words(figure, home) {
  const texts_ = [];
  const texts = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (node.parentElement.closest("svg")) continue;
    const style = getComputedStyle(node.parentElement);
    const lines = [];
    for (const match of node.textContent.matchAll(/\S+\s*/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].trimEnd().length);
      const at = range.getBoundingClientRect();
      if (!at.width) continue;
      const last = lines.at(-1);
      if (last && Math.abs(last.at.top - at.top) < 3) Object.assign(last, { text: last.text + match[0], right: at.right });
      else lines.push({ at, text: match[0], right: at.right });
    }
    for (const { at, text, right } of lines) {
      // The width of the page, whatever font the viewer has.
      texts_.push(s("text", { textLength: (right - at.left).toFixed(1), lengthAdjust: "spacingAndGlyphs", x: (at.left - home.left).toFixed(1), y: (at.bottom - home.top - at.height * 0.24).toFixed(1),
        style: { fill: style.color, fontWeight: style.fontWeight, fontStyle: style.fontStyle, fontSize: style.fontSize, fontVariantNumeric: "tabular-nums", fontFamily: style.fontFamily } }, text.trimEnd()));
    }
  }
  return texts_;
}

export async function savePicture(figure, name, kind, credits) {
  const text = standalone(figure, credits);
  let blob = new Blob([text], { type: "image/svg+xml" });
  if (kind === "png") {
    const image = new Image();
    const address = URL.createObjectURL(blob);
    image.src = address;
    await image.decode();
    const canvas = h("canvas", { width: image.width * 2, height: image.height * 2 });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  }
  const link = h("a", { href: URL.createObjectURL(blob), download: `attention-${name}.${kind}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
