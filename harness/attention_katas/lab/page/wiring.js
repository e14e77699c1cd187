// 5. Self-attention and cross-attention: the same operation with other inputs.

import { h, s, fill, choice } from "./dom.js";
import { bars } from "./bars.js";
import { announce, drawn, rowSum } from "./notes.js";
import { panel } from "./panel.js";
import { odd, text } from "./numbers.js";

export default {
  render({ model: hub, el }) {
    const { source, target } = hub.scene.wiring;
    const lastAnswers = {};
    let head = 0;
    let row = 1;
    let last = null;
    const parts = panel(el, hub, {
      id: "wiring", number: "5", title: "Self-attention and cross-attention",
      lede: "A model translates a sentence. On the left the words of the translation attend to each other: queries, keys and values come from one sentence. On the right they attend to the English sentence: the queries are the same, the keys and values come from the source. Nothing else changes.",
      note: ["Two heads made by hand: one matches meanings, the other positions. Their values are one-hot vectors, so the output of the layer is its attention weights."],
    });
    fill(parts.controls, h("div.group", choice("head", [["0", "1 · the same meaning"], ["1", "2 · a position"]], "0", (key) => ((head = +key), last && show(last)))));
    const show = (answer) => {
      last = answer;
      const steps = { self: answer.self, cross: answer.cross };
      const own = drawn(answer.self, lastAnswers, "self", 0);
      const other = drawn(answer.cross, lastAnswers, "cross", 0);
      const picks = () => [...parts.figure.querySelectorAll(".pick")];
      const focused = picks().indexOf(parts.figure.getRootNode().activeElement);
      fill(parts.figure, h("div.wirings",
        half("self-attention", "le chat noir dort, attending to itself", own, target),
        half("cross-attention", "le chat noir dort, attending to “the black cat is asleep”", other, source)));
      picks()[focused]?.focus({ preventScroll: true });
      parts.tell(steps);
      announce([["self", own, target], ["cross", other, source]].map(([name, step, keys]) => `${name}: ${target[row]} attends to ${keys.map((key, j) => `${key} ${text(step.cells[head][row][j])}`).join(", ")}`).join("; "));
    };
    const half = (title, sub, step, keys) => {
      const weights = step.cells[head];
      const W = 360;
      const gap = 40;
      const places = Math.max(target.length, source.length);
      const height = places * gap + 30;
      const y = (i, n) => 30 + (i + 0.5 + (places - n) / 2) * gap;
      const svg = s("svg.wires", { viewBox: `0 0 ${W} ${height}`, role: "group", "aria-label": `${title}: choose the query` },
        s("text.axis", { x: 84, y: 16, "text-anchor": "end" }, "queries"), s("text.axis", { x: W - 92, y: 16 }, "keys, values"));
      target.forEach((_, i) => keys.forEach((__, j) => {
        const value = weights[i][j];
        if (odd(value) || value < 0.01) return;
        const [y0, y1] = [y(i, target.length), y(j, keys.length)];
        svg.append(s("path", { class: `wire ${step.mine ? "mine" : "theirs"} ${step.old ? "old" : ""} ${i === row ? "here" : ""}`, d: `M98 ${y0}C${W * 0.5} ${y0} ${W * 0.5} ${y1} ${W - 104} ${y1}`, "stroke-width": 0.6 + 11 * Math.min(1, value) }));
      }));
      target.forEach((word, i) => {
        const one = s("g", { class: `pick ${i === row ? "here" : ""}`, tabindex: 0, role: "button", "aria-pressed": String(i === row), "aria-label": `query ${word}`, "data-row": i },
          s("rect", { x: 12, y: y(i, target.length) - 15, width: 82, height: 30, rx: 6 }), s("text", { x: 84, y: y(i, target.length) + 5, "text-anchor": "end" }, word));
        const pick = () => {
          row = i;
          show(last);
          parts.figure.querySelectorAll(`[aria-label="${title}: choose the query"] [data-row="${i}"]`).forEach((again) => again.focus());
        };
        one.addEventListener("click", pick);
        one.addEventListener("keydown", (event) => {
          if (event.key === "Enter" || event.key === " ") (event.preventDefault(), pick());
        });
        svg.append(one);
      });
      keys.forEach((word, j) => svg.append(s("text.keyword", { x: W - 92, y: y(j, keys.length) + 5 }, word)));
      const mine = { ...step, cells: weights[row], right: step.right[head][row] };
      const sum = rowSum(weights[row]);
      return h("section.half", h("h3", title, h("span.sub", sub)), svg, h("h4", `“${target[row]}” attends to`), bars(keys, mine, { label: `${title}: weights of ${target[row]}` }), h("p.line", h("span", { class: !step.mine && step.state !== "frozen" ? "plain" : sum.right ? "ok" : "wrong" }, `Σ = ${sum.text}`), step.old ? ": your last answer; this save has none." : step.lost ? ", drawn by the reference." : ""));
    };
    const ask = hub.asker("wiring", show);
    ask({});
  },
};
