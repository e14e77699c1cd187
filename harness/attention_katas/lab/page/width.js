// 1b. Why divide by the root of d_k: four measures of softmax as vectors get wider.

import { h, s, fill, slider } from "./dom.js";
import { frame } from "./frame.js";
import { odd, text } from "./numbers.js";

const MEASURES = [
  ["spread", "spread of the scores", "standard deviation"],
  ["entropy", "entropy of the weights", "nats; ln 16 = 2.77 is even"],
  ["largest", "largest weight", "of sixteen"],
  ["gradient", "gradient through softmax", "what reaches the scores"],
];
const W = 240;
const H = 150;

export default {
  render({ model: hub, el }) {
    const widths = hub.scene.widths;
    let chosen = 64;
    let answer = null;
    const parts = frame(el, hub, {
      id: "width", number: "2", title: "Why divide by √d_k",
      lede: "Take vectors with entries of unit spread, the way they come out of a fresh layer, and make them wider. Their dot products spread as √d_k: softmax gives everything to one key, and hardly any gradient comes back through it. Divided, nothing of that happens.",
      note: ["Each point is the mean over 32 random queries and 16 random keys, always the same ones. ", hub.live ? "All of it goes through your functions; the gradient is that of each row's largest weight with respect to its scores, by your softmax's own backward()." : "The gradient is that of each row's largest weight with respect to its scores."],
    });
    const pick = slider("d_k", widths, chosen, (d_k) => ((chosen = d_k), draw()));
    fill(parts.controls, h("div.group", pick, h("span.keys", h("span.key.raw", "as they are"), h("span.key.divided", "divided by √d_k"))));
    const draw = () => {
      if (!answer) return;
      fill(parts.figure, h("div.smalls", MEASURES.map(([key, title, unit]) => graph(key, title, unit, answer.curves))));
    };
    const x = (d) => 30 + (Math.log2(d) - 1) * ((W - 44) / 8);
    const graph = (key, title, unit, curves) => {
      const of = (point, who) => point[who]?.[key] ?? point.right[key];
      const all = Object.values(curves).flat().flatMap((p) => [of(p, "yours"), p.right[key]]).filter((v) => v != null && !odd(v));
      const most = Math.max(...all) * 1.08;
      const y = (v) => H - 24 - Math.max(-1, Math.min(2, v / most)) * (H - 44);
      const path = (points, who) => points.map((p) => [p.d_k, of(p, who)]).filter(([, v]) => v != null && !odd(v)).map(([d, v], i) => `${i ? "L" : "M"}${x(d).toFixed(1)} ${y(v).toFixed(1)}`).join("");
      const svg = s("svg.graph", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${title} at d_k ${chosen}: ${["raw", "divided"].map((n) => `${n === "raw" ? "as they are" : "divided"} ${text(of(at(curves[n]), "yours"))}`).join(", ")}` },
        s("path.frame", { d: `M30 ${H - 24}H${W - 10}` }),
        [2, 8, 32, 128, 512].map((d) => s("text.axis", { x: x(d), y: H - 9, "text-anchor": "middle" }, d)),
        [0, most / 1.08].map((v) => s("text.axis", { x: 26, y: y(v) + 3.5, "text-anchor": "end" }, text(v, most > 4 ? 0 : 1))),
        s("path.now", { d: `M${x(chosen)} ${12}V${H - 24}` }),
        ["raw", "divided"].map((name) => {
          const mine = curves[name].every((p) => p.yours?.[key] != null);
          return s("g", { class: `curve ${name} ${mine ? "mine" : "theirs"}` },
            s("path", { d: path(curves[name], "yours") }),
            curves[name].map((p) => (p.right[key] == null || !mine ? null : s("path.truth", { d: `M${x(p.d_k) - 4} ${y(p.right[key])}h8` }))),
            odd(of(at(curves[name]), "yours")) || of(at(curves[name]), "yours") == null ? null : s("circle", { cx: x(chosen), cy: y(of(at(curves[name]), "yours")), r: 4 }));
        }));
      const value = (name) => h("span", { class: `key ${name}` }, text(of(at(curves[name]), "yours")));
      return h("figure.small", h("figcaption", title, h("span.sub", unit)), svg, h("p.values", value("raw"), value("divided")));
    };
    const at = (points) => points.find((p) => p.d_k === chosen);
    const ask = hub.asker("width", (found) => {
      answer = found;
      draw();
      const steps = {};
      for (const points of Object.values(found.curves)) {
        for (const point of points) for (const step of point.states) {
          if (!steps[step.function] || step.state !== "yours") steps[step.function] = { ...step, agrees: close(points), alone: false, right: [], yours: [] };
        }
      }
      parts.tell(steps);
    });
    const close = (points) => points.every((p) => p.yours && Object.entries(p.right).every(([key, v]) => p.yours[key] == null || Math.abs(p.yours[key] - v) <= 1e-5 * Math.max(1, Math.abs(v))));
    ask({});
  },
};
