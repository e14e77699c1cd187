// 1. The soft lookup: a query among four keys, and what it gets of their values.

import { h, s, fill, button, slider, toggle } from "./dom.js";
import { arrow, line, plane, px, py } from "./plane.js";
import { bars } from "./bars.js";
import { announce, drawn, verdictLine } from "./notes.js";
import { frame } from "./frame.js";
import { largest, odd, text } from "./numbers.js";

const TEMPERATURES = [0.1, 0.25, 0.5, 1, 2, 4, 10];

export default {
  render({ model: hub, el }) {
    const { words, keys, values, query } = hub.scene.lookup;
    const now = { query: [...query], values: values.map((one) => [...one]), d_k: 2, divide: true, temperature: 1 };
    const kept = {};
    const parts = frame(el, hub, {
      id: "lookup", number: "1", title: "A soft lookup",
      lede: "Four words hold out their keys. “it” carries a query: drag it. In the middle it asks for nothing in particular and gets a little of everyone; point it at a word, far out, and that word takes all. What comes back is not a word but a blend of values, and you may drag those too.",
      note: ["This plane is a toy: two coordinates stand for all d_k of them. Wider vectors are made by repeating the two, sized so that a dot product grows as √d_k does for random vectors. Real heads come in the third picture."],
    });

    const keyDots = () => words.map((word, i) => s("g.key", { transform: `translate(${px(keys[i][0])} ${py(keys[i][1])})` },
      s("circle.dot", { r: 6 }), s("text", { x: keys[i][0] < 0 ? -11 : 11, y: 4, "text-anchor": keys[i][0] < 0 ? "end" : "start" }, word)));
    const asks = plane({
      label: "keys of four words, and the query of the word it",
      handles: [{ id: "query", label: "query of the word it", at: now.query, mark: () => [s("circle.grip", { r: 13 }), s("text.gripword", { y: 4.5, "text-anchor": "middle" }, "it")] }],
      moved: (_, at) => ((now.query = at), inputs(), ask(now)),
    });
    const gives = plane({
      label: "values of the four words, and their blend",
      handles: words.map((word, i) => ({ id: `value ${i}`, label: `value of ${word}`, at: now.values[i], mark: () => [s("rect.grip.box", { x: -7, y: -7, width: 14, height: 14, rx: 3 }), s("text", { x: values[i][0] < 0 ? -13 : 13, y: 4.5, "text-anchor": values[i][0] < 0 ? "end" : "start" }, word)] })),
      moved: (id, at) => ((now.values[+id.slice(6)] = at), ask(now)),
    });
    gives.svg.classList.add("giving");

    const weights = h("div");
    const scores = h("div");
    const figures = h("dl.figures");
    fill(parts.figure, h("div.lookup",
      h("div.side", h("h3", "who is asked", h("span.sub", "keys, and your query")), asks.svg),
      h("div.side.middle", h("h3", "how much each counts", h("span.sub", "softmax of the scores")), weights, h("h4", "scores"), scores, figures),
      h("div.side", h("h3", "what comes back", h("span.sub", "values, blended by weight")), gives.svg)));

    const axis = (label, index) => {
      const input = h("input", { type: "number", min: -3, max: 3, step: 0.1, value: now.query[index] });
      input.addEventListener("input", () => {
        if (!Number.isFinite(input.valueAsNumber)) return;
        const at = [...now.query];
        at[index] = Math.max(-3, Math.min(3, input.valueAsNumber));
        send({ query: at }, input);
      });
      return h("label.number", label, input);
    };
    const fields = [axis("x", 0), axis("y", 1)];
    const inputs = (but) => fields.forEach((field, i) => field.lastChild !== but && (field.lastChild.value = text(now.query[i], 2).replace("−", "-")));
    const send = (change, but) => {
      Object.assign(now, change);
      asks.place("query", now.query);
      inputs(but);
      ask(now);
    };
    const toward = (word, far) => keys[words.indexOf(word)].map((x) => Math.round(x * far * 100) / 100);
    const width = slider("d_k", hub.scene.widths, now.d_k, (d_k) => send({ d_k }));
    const warm = slider("temperature", TEMPERATURES, 1, (temperature) => send({ temperature }));
    fill(parts.controls,
      h("div.group", { role: "group", "aria-label": "where the query is" }, h("span.caption", "query"), fields,
        button("centre", () => send({ query: [0, 0] }), ".preset"), button("toward animal", () => send({ query: toward("animal", 0.5) }), ".preset"), button("far toward animal", () => send({ query: toward("animal", 1.5) }), ".preset")),
      h("div.group", width, toggle("divide by √d_k", true, (divide) => send({ divide })), warm));

    const show = (answer) => {
      const w = drawn(answer.weights, kept, "weights");
      const raw = drawn(answer.scores, kept, "scores");
      const blend = drawn(answer.blend, kept, "blend");
      const thick = (x) => (odd(x) ? 0 : 1 + 15 * Math.max(0, Math.min(1, x)));
      const tone = (step) => (step.mine ? "mine" : step.old ? "old" : "theirs");
      asks.draw(words.map((_, i) => line(now.query, keys[i], tone(w), thick(w.cells[i]))), arrow([0, 0], now.query, "query", { width: 2.5, shorten: 13 }), keyDots());
      gives.draw(now.values.map((at, i) => line([0, 0], at, tone(w), thick(w.cells[i]))),
        odd(blend.cells[0]) || odd(blend.cells[1]) ? null : arrow([0, 0], blend.cells, `blend ${tone(blend)}`, { width: 4, head: 14 }),
        blend.state === "frozen" || odd(blend.right[0]) ? null : s("g.ring", { transform: `translate(${px(blend.right[0])} ${py(blend.right[1])})` }, s("path", { d: "M-9 0H-3M3 0H9M0 -9V-3M0 3V9" })));
      fill(weights, bars(words, w, { label: "weights" }), verdictLine(w));
      const most = Math.max(4, largest(raw.right), largest(raw.cells));
      fill(scores, bars(words, raw, { signed: true, most, label: "scores" }));
      fill(figures, read(answer.figures));
      parts.tell({ scores: answer.scores, weights: answer.weights, blend: answer.blend });
      announce(words.map((word, i) => `${word} ${text(w.cells[i])}`).join(", "));
    };
    const read = ({ yours, right }) => {
      // What the learner's functions did not compute is the reference's; that nothing came back is theirs.
      const lost = (key) => key === "gradient" && yours?.largest != null && yours.gradient == null;
      const entry = (name, key, title, words_) => [h("dt", { title }, name), h("dd", { class: yours?.[key] != null || lost(key) ? "mine" : "theirs" }, lost(key) ? "none" : text(yours?.[key] ?? right[key], 2), h("span", words_))];
      return [
        entry("spread", "spread", "standard deviation of the scores", "of the scores"),
        entry("entropy", "entropy", "of the weights, in nats; ln 4 = 1.39 is even", "nats of 1.39"),
        entry("largest", "largest", "the largest weight", "weight"),
        entry("gradient", "gradient", "length of the gradient of the largest weight with respect to the scores", "through softmax"),
      ];
    };
    const ask = hub.asker("lookup", show);
    ask(now);
  },
};
