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
  // Banners that say the same stay where they are, for an alert is read out whenever it appears; and
  // what somebody has unfolded stays so.
  const banner = (found) => {
    const before = [...parts.banners.children];
    if (found.map((one) => one.textContent).join("\n") === before.map((one) => one.textContent).join("\n")) return;
    const open = before.some((one) => one.open);
    for (const one of found) if (open && one.tagName === "DETAILS") one.open = true;
    const same = (one) => before.find((old) => old.getAttribute("role") === "alert" && old.textContent === one.textContent);
    const wanted = found.map((one) => same(one) || one);
    before.filter((one) => !wanted.includes(one)).forEach((one) => one.remove());
    wanted.forEach((one, i) => parts.banners.children[i] === one || parts.banners.insertBefore(one, parts.banners.children[i] || null));
  };
  // No answer: what is drawn is an old one, of nobody's now.
  hub.on("unclear", (words, panel) => {
    if (panel !== id) return;
    el.classList.add("unclear");
    el.dataset.states = "unclear";
    parts.sources.replaceChildren();
    banner([h("div.banner.bad", { role: "alert" }, h("strong", "No answer"), `: ${words}. `, h("p.fine", "What is drawn below is an earlier answer."))]);
  });
  hub.on("verdict", beside);
  hub.on("saved", beside);
  // After every answer: who computed it, and what is wrong with it.
  parts.tell = (now, answer = {}) => {
    steps = now;
    el.classList.remove("unclear");
    banner(banners(now));
    fill(parts.sources, provenance(now));
    beside();
    el.dataset.generation = hub.generation;
    el.dataset.answers = +(el.dataset.answers || 0) + 1;
    el.dataset.states = Object.values(now).map((step) => step.state).join(" ");
    return answer;
  };
  return parts;
}

const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "paint-order", "opacity", "fill-opacity",
  "stroke-opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "visibility", "display"];

// A figure as one SVG that looks the same without the page: its boxes, its drawings, its words.
export function standalone(figure) {
  const home = figure.getBoundingClientRect();
  const [width, height] = [Math.ceil(home.width), Math.ceil(home.height)];
  const root = s("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    s("rect", { width, height, fill: `rgb(${THEMES[theme()].paper})` }));
  const place = (at) => ({ x: (at.left - home.left).toFixed(1), y: (at.top - home.top).toFixed(1), width: at.width.toFixed(1), height: at.height.toFixed(1) });
  root.append(...boxes(figure, place), ...drawings(figure, place), ...words(figure, home));
  return new XMLSerializer().serializeToString(root);
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
      const kept_ = KEPT.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";");
      for (const name of ["class", "tabindex"]) one.removeAttribute(name);
      one.style.cssText = kept_;
    });
    for (const [name, value] of Object.entries(place(drawing.getBoundingClientRect()))) copy.setAttribute(name, value);
    copy.setAttribute("overflow", "visible");
    return copy;
  });
}

// Words line by line, as the page has broken them.
function words(figure, home) {
  const found = [];
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
      if (last && Math.abs(last.at.top - at.top) < 3) last.text += match[0];
      else lines.push({ at, text: match[0] });
    }
    for (const { at, text } of lines) {
      found.push(s("text", { x: (at.left - home.left).toFixed(1), y: (at.bottom - home.top - at.height * 0.24).toFixed(1),
        style: { fill: style.color, fontWeight: style.fontWeight, fontStyle: style.fontStyle, fontSize: style.fontSize, fontFamily: style.fontFamily } }, text.trimEnd()));
    }
  }
  return found;
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
