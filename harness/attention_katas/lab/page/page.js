// Puts the page together.

import { h, s, fill, button } from "./dom.js";
import { Hub } from "./hub.js";
import { announce } from "./notes.js";
import { onTheme, surface, theme } from "./numbers.js";
import { sign } from "./katas.js";
import katas from "./katas.js";
import lookup from "./lookup.js";
import width from "./width.js";
import sentence from "./sentence.js";
import steps from "./steps.js";
import wiring from "./wiring.js";
import cost from "./cost.js";

const PANELS = { lookup, width, sentence, steps, wiring, cost };
const NAMES = { lookup: "Lookup", width: "√d_k", sentence: "Sentence", steps: "Steps", wiring: "Self, cross", cost: "Cost" };

// root: the element with the parts of index.html. host: the element with data-theme.
export function page(model, root, host = document.documentElement) {
  const hub = new Hub(model);
  surface.el = host;
  announce.live = root.querySelector(".live");
  const main = root.querySelector("main");
  const status = root.querySelector(".status");
  const line = h("span.connection", { role: "status" });
  const dots = h("span.dots");
  const switcher = button("", () => {
    host.dataset.theme = theme() === "dark" ? "light" : "dark";
    restyle();
  }, ".theme");
  const restyle = () => {
    switcher.textContent = theme() === "dark" ? "light" : "dark";
    switcher.setAttribute("aria-label", `switch to ${switcher.textContent} colours`);
    document.dispatchEvent(new CustomEvent("lab:theme"));
  };
  // In a shadow root links to fragments do not scroll.
  root.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link || root.getRootNode() === document) return;
    event.preventDefault();
    root.querySelector(link.getAttribute("href"))?.scrollIntoView();
  });
  onTheme(restyle);
  fill(status, dots, line, switcher);
  restyle();
  const stand = () => {
    fill(dots, hub.katas.map((kata) => {
      const verdict = hub.verdicts[kata.name];
      const [mark, words] = sign(verdict);
      return h("a", { href: `#kata-${kata.name}`, class: `dot ${verdict?.judging ? "judging" : (verdict?.outcome || "").replace(" ", "-")}`, "data-name": `${kata.title}: ${words}`, "aria-label": `${kata.title}: ${words}` }, mark);
    }));
  };
  const introduce = () => {
    const all = hub.katas.every((kata) => !kata.unwritten.length);
    fill(root.querySelector(".standfirst"), "Attention is a query, some keys, and a blend of values. Every number on this page is computed by ",
      all ? "your functions. They are loaded again whenever you save." : "your functions, and by the reference where you have none yet. Your files are loaded again whenever you save.");
  };
  hub.on("saved", () => hub.live && introduce());
  hub.on("verdict", stand);
  hub.on("saved", (files) => {
    stand();
    line.textContent = `loaded again: ${files.join(", ")}`;
    clearTimeout(page.timer);
    page.timer = setTimeout(() => (line.textContent = ""), 2500);
  });
  hub.on("line", (open) => {
    line.textContent = open ? "" : "kata lab has ended: start it again";
    line.title = open ? "" : "and open the address that it prints";
    root.classList.toggle("offline", !open);
  });
  hub.on("hello", () => {
    stand();
    if (main.querySelector("section")) return;
    host.classList.toggle("frozen", !hub.live);
    introduce();
    if (!hub.live) fill(root.querySelector(".standfirst"), "Attention is a query, some keys, and a blend of values. This copy of the page computes with the formulas of the reference; the lab computes with your own code.");
    fill(root.querySelector(".legend"), hub.live
      ? [key("mine", "yours"), key("tick", "the reference"), key("theirs", "the reference, where yours is not there")]
      : [key("theirs", "the reference")]);
    const panels = hub.panels || Object.keys(PANELS).map((name) => ({ name }));
    fill(root.querySelector("nav"), panels.map(({ name, title }) => h("a", { href: `#${name}` }, title || NAMES[name])));
    for (const { name, title, script } of panels) {
      const el = h("section", { "data-panel": name });
      main.append(el);
      // A picture that a pack brings is a module of its own.
      if (script) import("./" + script)
        .then((panel) => panel.default.render({ model: hub, el }))
        .catch((error) => fill(el, h("h2", title || name), h("p.note", `This picture of a pack cannot be drawn: ${error.message}`)));
      else PANELS[name].render({ model: hub, el });
    }
    if (hub.live) {
      const el = h("section");
      main.append(el);
      katas.render({ model: hub, el });
    }
    fill(root.querySelector(".foot"), h("p", "Attention Katas, MIT licence. Heads of all-MiniLM-L6-v2, Apache-2.0. This page loads nothing from other machines and sends nothing to them."));
    line.textContent = hub.live ? "your functions are starting …" : "";
    document.addEventListener("lab:shown", () => (line.textContent = ""), { once: true });
    host.dataset.ready = "true";
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  });
  return hub;
}

function key(kind, words) {
  const drawing = s("svg", { viewBox: "0 0 44 14", width: 44, height: 14, "aria-hidden": "true" },
    s("rect.track", { x: 0, y: 3, width: 44, height: 8, rx: 2 }),
    kind === "tick" ? s("path.tick", { d: "M30 0V14" }) : s("rect", { class: `fill ${kind}`, x: 0, y: 3, width: 26, height: 8, rx: 2 }));
  return h("span.entry", drawing, words);
}
