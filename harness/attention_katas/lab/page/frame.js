// What every panel has: a heading, a few words, room for banners, figure and footer, and a way to
// save the picture.

import { h, s, fill, button, unique } from "./dom.js";
import { banners, provenance, tutor } from "./notes.js";
import { theme, THEMES } from "./numbers.js";

export function frame(el, hub, { id, number, title, lede, note }) {
  const heading = unique("title");
  const parts = {
    controls: h("div.controls"),
    banners: h("div.banners"),
    figure: h("div.figure"),
    sources: h("div.sources"),
    tutor: h("div.tutors"),
  };
  const save = h("div.save",
    button("PNG", () => savePicture(parts.figure, id, "png"), ".small"),
    button("SVG", () => savePicture(parts.figure, id, "svg"), ".small"));
  save.setAttribute("aria-label", `save the picture of ${title}`);
  save.setAttribute("role", "group");
  el.id = id;
  el.setAttribute("class", "panel");
  el.setAttribute("aria-labelledby", heading);
  fill(el,
    h("div.head", h("span.number", { "aria-hidden": "true" }, number), h("h2", { id: heading }, title), h("p.lede", lede)),
    parts.controls, parts.banners,
    h("div.body", parts.figure, parts.tutor),
    h("div.under", parts.sources, save),
    note ? h("p.note", note) : null);
  let steps = {};
  const beside = () => {
    fill(parts.tutor, tutor(hub, steps, title));
    el.classList.toggle("taught", parts.tutor.childNodes.length > 0);
  };
  hub.on("verdict", beside);
  hub.on("saved", beside);
  // After every answer: who computed it, and what is wrong with it.
  parts.tell = (now, answer = {}) => {
    steps = now;
    const found = banners(now);
    if (found.length || parts.banners.firstChild) fill(parts.banners, found);
    fill(parts.sources, provenance(now));
    beside();
    el.dataset.generation = hub.generation;
    el.dataset.answers = +(el.dataset.answers || 0) + 1;
    el.dataset.states = Object.values(now).map((step) => step.state).join(" ");
    return answer;
  };
  return parts;
}

const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "fill-opacity",
  "stroke-opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "visibility", "display"];

// The drawings of a figure, as one SVG that looks the same without the page's style sheet.
export function standalone(figure) {
  const drawings = [...figure.querySelectorAll("svg")].filter((one) => one.getBoundingClientRect().width > 40);
  const box = figure.getBoundingClientRect();
  const scale = (one) => one.getBoundingClientRect();
  const root = s("svg", { xmlns: "http://www.w3.org/2000/svg", width: Math.ceil(box.width), height: Math.ceil(box.height), viewBox: `0 0 ${Math.ceil(box.width)} ${Math.ceil(box.height)}` });
  root.append(s("rect", { width: "100%", height: "100%", fill: `rgb(${THEMES[theme()].paper})` }));
  for (const drawing of drawings) {
    const copy = drawing.cloneNode(true);
    const from = [drawing, ...drawing.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((one, i) => {
      const style = getComputedStyle(from[i]);
      const words = KEPT.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";");
      one.removeAttribute("class");
      one.removeAttribute("tabindex");
      one.style.cssText = words;
    });
    const at = scale(drawing);
    for (const [name, value] of Object.entries({ x: at.left - box.left, y: at.top - box.top, width: at.width, height: at.height })) copy.setAttribute(name, value.toFixed(1));
    copy.setAttribute("overflow", "visible");
    root.append(copy);
  }
  const words = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const node = words.currentNode;
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest("svg, .readout, legend, button, label, .quiet")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const style = getComputedStyle(parent);
    const at = range.getBoundingClientRect();
    if (!at.width) continue;
    root.append(s("text", { x: (at.left - box.left).toFixed(1), y: (at.bottom - box.top - at.height * 0.24).toFixed(1),
      style: { fill: style.color, fontWeight: style.fontWeight, fontSize: style.fontSize, fontFamily: style.fontFamily } }, node.textContent.trim()));
  }
  return new XMLSerializer().serializeToString(root);
}

export async function savePicture(figure, name, kind) {
  const text = standalone(figure);
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
