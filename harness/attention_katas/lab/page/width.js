// 2. Why divide by the square root of d_k: four measures of softmax for wider and wider vectors.

import { h, s, fill, slider } from "./dom.js";
import { panel } from "./panel.js";
import { odd, text } from "./numbers.js";

const MEASURES = [
  ["spread", "spread of the scores", "standard deviation"],
  ["entropy", "entropy of the weights", "in nats; ln 16 if all are equal"],
  ["largest", "largest weight", "of 16"],
  ["gradient", "gradient through softmax", "with respect to the scores"],
];
const EVEN = Math.log(16);
const H = 150;

export default {
  render({ model: hub, el }) {
    const widths = hub.scene.widths;
    let chosen = 64;
    let answer = null;
    const parts = panel(el, hub, {
      id: "width", number: "2", title: "Why divide by √d_k",
      lede: "Take vectors with entries of unit spread, like the outputs of a new layer, and make them wider. The spread of their dot products grows like √d_k. Softmax then gives nearly all the weight to one key, and almost no gradient passes through it. Dividing by √d_k prevents that.",
      note: ["Each point is the mean over 32 random queries and 16 random keys, always the same ones. ", hub.live ? "Your functions compute all of it. The gradient is that of the largest weight of each row with respect to its scores, from the backward pass of your softmax." : "The gradient is that of the largest weight of each row with respect to its scores.", " It says how much that weight changes with the scores. Even weights change a little. A weight of nearly 1 cannot change, so nothing is learnt. Softmax learns most in between."],
    });
    let W = 240;
    const keys = h("span.keys.drawn");
    const pick = slider("d_k", widths, chosen, (d_k) => ((chosen = d_k), draw()));
    fill(parts.controls, h("div.group", pick, keys));
    const draw = () => {
      if (!answer) return;
      const across = parts.figure.clientWidth;
      const columns = across > 820 ? 4 : 2;
      W = Math.max(132, Math.floor((across - 44 - (columns - 1) * 22) / columns));
      fill(keys, ["raw", "divided"].map((name) => h("span.key", s("svg", { viewBox: "0 0 34 8", width: 34, height: 8, "aria-hidden": "true" },
        s("g", { class: `curve ${name} ${owned(answer.curves[name], "spread") ? "mine" : "theirs"}` }, s("path", { d: "M0 4H34" }))), h("span", name === "raw" ? "as they are" : "divided by √d_k"))));
      fill(parts.figure, h("div.smalls", MEASURES.map(([key, title, unit]) => graph(key, title, unit, answer.curves))));
    };
    const x = (d) => 32 + (Math.log2(d) - 1) * ((W - 46) / 8);
    // Whether every point of a curve is the learner's. A value of null: no gradient was returned.
    const owned = (points, key) => points.every((p) => p.yours && key in p.yours);
    const of = (point, key, mine) => (mine ? point.yours[key] : point.right[key]);
    const there = (v) => v != null && !odd(v);
    const graph = (key, title, unit, curves) => {
      const mine = Object.fromEntries(Object.entries(curves).map(([name, points]) => [name, owned(points, key)]));
      const all = Object.entries(curves).flatMap(([name, points]) => points.flatMap((p) => [of(p, key, mine[name]), p.right[key]])).filter(there);
      const top = key === "entropy" ? Math.max(EVEN, ...all) : Math.max(...all);
      const most = top * 1.08;
      const y = (v) => H - 24 - Math.max(-1, Math.min(2, v / most)) * (H - 44);
      const path = (name) => curves[name].map((p) => [p.d_k, of(p, key, mine[name])]).filter(([, v]) => there(v)).map(([d, v], i) => `${i ? "L" : "M"}${x(d).toFixed(1)} ${y(v).toFixed(1)}`).join("");
      const here = (name) => of(at(curves[name]), key, mine[name]);
      const words = (v) => (v === null ? "none" : text(v));
      const lost = ["raw", "divided"].some((name) => here(name) === null);
      const marks = W < 190 ? [2, 32, 512] : [2, 8, 32, 128, 512];
      const svg = s("svg.graph", { viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: "img", "aria-label": `${title} at d_k ${chosen}: ${["raw", "divided"].map((n) => `${n === "raw" ? "as they are" : "divided"} ${words(here(n))}`).join(", ")}` },
        s("path.frame", { d: `M32 ${H - 24}H${W - 10}` }),
        marks.map((d) => s("text.axis", { x: x(d), y: H - 9, "text-anchor": "middle" }, d)),
        key === "entropy"
          ? [s("path.even", { d: `M32 ${y(EVEN)}H${W - 10}` }), s("text.axis", { x: 28, y: y(EVEN) + 3.5, "text-anchor": "end" }, "ln 16"), s("text.axis", { x: 28, y: y(0) + 3.5, "text-anchor": "end" }, "0")]
          : [0, top].map((v) => s("text.axis", { x: 28, y: y(v) + 3.5, "text-anchor": "end" }, text(v, most > 4 ? 0 : 2))),
        s("path.now", { d: `M${x(chosen)} ${12}V${H - 24}` }),
        ["raw", "divided"].map((name) => s("g", { class: `curve ${name} ${mine[name] ? "mine" : "theirs"}` },
          s("path", { d: path(name) }),
          curves[name].map((p) => (!there(p.right[key]) || !mine[name] ? null : s("path.truth", { d: `M${x(p.d_k) - 4} ${y(p.right[key])}h8` }))),
          there(here(name)) ? s("circle", { cx: x(chosen), cy: y(here(name)), r: 4 }) : null)),
        lost ? s("text.lost", { x: W / 2, y: 24, "text-anchor": "middle" }, "no gradient was returned") : null);
      const value = (name) => h("span", name === "raw" ? "as is " : "divided ", h("b", { class: mine[name] ? "mine" : "theirs" }, words(here(name))));
      return h("figure.small", h("figcaption", title, h("span.sub", unit)), svg, h("p.values", value("raw"), value("divided")));
    };
    const at = (points) => points.find((p) => p.d_k === chosen);
    const ask = hub.asker("width", (points) => {
      answer = points;
      draw();
      parts.tell(points.steps);
    });
    let across = 0;
    new ResizeObserver(() => {
      if (Math.abs(parts.figure.clientWidth - across) < 4) return;
      across = parts.figure.clientWidth;
      draw();
    }).observe(parts.figure);
    ask({});
  },
};
