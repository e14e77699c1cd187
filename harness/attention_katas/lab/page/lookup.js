// 1. The soft lookup: a query, four keys, and the blend of their values.

import { h, s, fill, button, slider, toggle } from "./dom.js";
import { arrow, line, plane, px, py } from "./plane.js";
import { bars } from "./bars.js";
import { announce, drawn, verdictLine } from "./notes.js";
import { panel } from "./panel.js";
import { largest, odd, text } from "./numbers.js";

const TEMPERATURES = [0.1, 0.25, 0.5, 1, 2, 4, 10];

export default {
  render({ model: hub, el }) {
    const { words, keys, values, query } = hub.scene.lookup;
    const now = { query: [...query], values: values.map((one) => [...one]), d_k: 2, divide: true, temperature: 1 };
    const lastAnswers = {};
    const parts = panel(el, hub, {
      id: "lookup", number: "1", title: "A soft lookup",
      lede: "Four words have keys, and “it” has a query: drag it. In the middle all weights are about equal. Far out towards a word, that word gets nearly all the weight. The result is a blend of the values, and you can drag those too.",
      note: ["Temperature divides the scores again: below 1 the weights become sharper, above 1 more even. The gradient says how much the largest weight changes with the scores. It is small when the weights are even and almost zero when one key has all the weight; softmax learns most in between. ", "This plane is made up: every vector has two coordinates. A wider vector repeats them, scaled so that a dot product grows like √d_k, as it does for random vectors. Picture 3 has real heads."],
    });

    const keyDots = () => words.map((word, i) => s("g.key", { transform: `translate(${px(keys[i][0])} ${py(keys[i][1])})` },
      s("circle.dot", { r: 6 }), s("text", { x: keys[i][0] < 0 ? -11 : 11, y: 4, "text-anchor": keys[i][0] < 0 ? "end" : "start" }, word)));
    const asks = plane({
      label: "keys of four words, and the query of the word it",
      handles: [{ id: "query", label: "query of the word it", at: now.query, mark: () => [s("circle.grip", { r: 13 }), s("text.gripword", { y: 4.5, "text-anchor": "middle" }, "it")] }],
      moved: (_, at) => (hub.open ? ((now.query = at), inputs(), ask(now)) : back()),
    });
    const gives = plane({
      label: "values of the four words, and their blend",
      handles: words.map((word, i) => ({ id: `value ${i}`, label: `value of ${word}`, at: now.values[i], mark: () => [s("rect.grip.box", { x: -7, y: -7, width: 14, height: 14, rx: 3 }), s("text", { x: values[i][0] < 0 ? -13 : 13, y: 4.5, "text-anchor": values[i][0] < 0 ? "end" : "start" }, word)] })),
      moved: (id, at) => (hub.open ? ((now.values[+id.slice(6)] = at), ask(now)) : back()),
    });
    gives.svg.classList.add("giving");

    const weights = h("div");
    const scores = h("div");
    const of = h("span.sub", "softmax of the scores");
    const why = h("p.why");
    const figures = h("dl.figures");
    fill(parts.figure, h("div.lookup",
      h("div.side", h("h3", "query and keys", h("span.sub", "drag the query")), asks.svg),
      h("div.side.middle", h("h3", "weights", of), weights, why, h("h4", "scores"), scores, figures),
      h("div.side", h("h3", "result", h("span.sub", "values, blended by weight")), gives.svg)));

    const axis = (label, index) => {
      const input = h("input", { type: "number", min: -3, max: 3, step: 0.1, value: now.query[index] });
      input.addEventListener("input", () => {
        if (!Number.isFinite(input.valueAsNumber)) return;
        const at = [...now.query];
        at[index] = Math.max(-3, Math.min(3, input.valueAsNumber));
        send({ query: at }, input);
      });
      input.addEventListener("change", () => inputs());
      return h("label.number", label, input);
    };
    const fields = [axis("x", 0), axis("y", 1)];
    const inputs = (but) => fields.forEach((field, i) => field.lastChild !== but && (field.lastChild.value = String(Math.round(now.query[i] * 100) / 100)));
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
        h("span.presets", button("centre", () => send({ query: [0, 0] }), ".preset"), button("toward animal", () => send({ query: toward("animal", 0.5) }), ".preset"), button("far toward animal", () => send({ query: toward("animal", 1.5) }), ".preset"),
          button("reset", () => {
            [now.query, now.values] = [[...query], values.map((one) => [...one])];
            now.values.forEach((at, i) => gives.place(`value ${i}`, at));
            send({});
          }, ".preset"))),
      h("div.group", width, toggle("divide by √d_k", true, (divide) => send({ divide })), warm));

    // Without a connection nothing is computed: dragged points return to the last answer.
    let answered = structuredClone(now);
    const back = () => {
      Object.assign(now, structuredClone(answered));
      asks.place("query", now.query);
      now.values.forEach((at, i) => gives.place(`value ${i}`, at));
      width.choose(now.d_k);
      warm.choose(now.temperature);
      inputs();
    };
    hub.on("line", (open) => open || back());

    const show = (answer) => {
      answered = structuredClone(answer.ask);
      const { query: at, d_k, divide, temperature } = answered;
      const raw = drawn(answer.scores, lastAnswers, "scores", [at, d_k, divide]);
      const w = drawn(answer.weights, lastAnswers, "weights", [at, d_k, divide, temperature, raw.cells]);
      const blend = drawn(answer.blend, lastAnswers, "blend", answered);
      if (answer.weights.state === "yours" && answer.figures.yours?.gradient === null) answer.weights.gradient = false;
      const thick = (x) => (odd(x) ? 0 : 1 + 15 * Math.max(0, Math.min(1, x)));
      const tone = (step) => (step.mine ? "mine" : step.old ? "old" : "theirs");
      asks.draw(words.map((_, i) => line(now.query, keys[i], tone(w), thick(w.cells[i]))), keys.map((at_) => arrow([0, 0], at_, "keyray", { width: 1.2, shorten: 7, head: 7 })), arrow([0, 0], now.query, "query", { width: 2.5, shorten: 13 }), keyDots());
      gives.draw(now.values.map((at, i) => line([0, 0], at, tone(w), thick(w.cells[i]))),
        odd(blend.cells[0]) || odd(blend.cells[1]) ? null : [arrow([0, 0], blend.cells, `blend ${tone(blend)}`, { width: 4, head: 14 }), Math.hypot(...blend.cells) < 0.4 ? s("circle", { class: `blenddot ${tone(blend)}`, cx: px(blend.cells[0]), cy: py(blend.cells[1]), r: 6 }) : null],
        blend.state === "frozen" || odd(blend.right[0]) ? null : s("g.ring", { transform: `translate(${px(blend.right[0])} ${py(blend.right[1])})` }, s("path", { d: "M-9 0H-3M3 0H9M0 -9V-3M0 3V9" })));
      fill(weights, bars(words, w, { label: "weights" }), verdictLine(w));
      const most = Math.max(4, largest(raw.right), largest(raw.cells));
      fill(scores, bars(words, raw, { signed: true, most, label: "scores" }), h("p.ends", { "aria-hidden": "true" }, h("span", text(-most, most > 10 ? 0 : 1)), h("span", "0"), h("span", text(most, most > 10 ? 0 : 1))));
      of.textContent = temperature === 1 ? "softmax of the scores" : `softmax of the scores / ${temperature}`;
      fill(why, because(raw, w, temperature));
      fill(figures, read(answer.figures));
      parts.tell({ scores: answer.scores, weights: answer.weights, blend: answer.blend });
      announce(words.map((word, i) => `${word} ${text(w.cells[i])}`).join(", "));
    };
    // Explains the weights: a difference of scores is a ratio of weights.
    const because = (raw, w, temperature) => {
      if (raw.cells.some(odd)) return "Some scores are not finite.";
      const order = words.map((word, i) => [raw.cells[i], word]).sort((a, b) => b[0] - a[0]);
      const [[first, best], [second, next]] = order;
      const gap = (first - second) / temperature;
      const all = (first - order.at(-1)[0]) / temperature;
      const by = temperature === 1 ? "" : `, divided by ${temperature}`;
      const start = `Scores ${text(first, 2)} and ${text(second, 2)}${by}: `;
      const verb = w.mine && !w.agrees ? "should weigh" : "weighs";
      if (all < 0.3) return `All scores are within ${text(Math.max(all, 0), 2)}${by}: the weights ${w.mine && !w.agrees ? "should be" : "are"} about equal.`;
      if (gap < 0.1) return `${start}${best} ${verb} about as much as ${next}.`;
      const times = Math.exp(gap);
      const power = h("span.power", "e", h("sup", text(gap, gap < 10 ? 2 : 0)));
      return [`${start}${best} ${verb} `, power, times < 1000 ? ` = ${text(times, times < 10 ? 1 : 0)}` : "", ` times as much as ${next}${gap > 4 ? ": nearly all" : ""}.`];
    };
    const read = ({ yours, right }) => {
      const entry = (name, key, title, words_) => {
        const isOwn = yours && key in yours;
        const value = isOwn ? yours[key] : right[key];
        return [h("dt", { title }, name), h("dd", { class: isOwn ? "mine" : "theirs" }, value === null ? h("b.none", "none") : text(value, 2), h("span", value === null ? "no gradient was returned" : words_))];
      };
      return [
        entry("spread", "spread", "standard deviation of the scores", "of the scores"),
        entry("entropy", "entropy", "of the weights, in nats; ln 4 = 1.39 if all are equal", "nats; all equal: ln 4 = 1.39"),
        entry("largest", "largest", "the largest weight", "weight"),
        entry("gradient", "gradient", "length of the gradient of the largest weight with respect to the scores", "through softmax"),
      ];
    };
    const ask = hub.asker("lookup", show);
    ask(now);
  },
};
