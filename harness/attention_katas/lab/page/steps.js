// 4. The four steps for the row of one query.

import { h, s, fill, button, choice, toggle, moves } from "./dom.js";
import { announce, chip, drawn, rowSum } from "./notes.js";
import { panel } from "./panel.js";
import { largest, odd, shade, text, short, theme } from "./numbers.js";
import { unique } from "./dom.js";

const WORDS = {
  score: ["Score", "the dot product of this query with every key"],
  scale: ["Scale", "divided by √d_k"],
  mask: ["Mask", "scores of later words are set to −∞"],
  softmax: ["Softmax", "weights that sum to one"],
  blend: ["Blend", "the weighted sum of all values: the output for this word"],
};

export default {
  render({ model: hub, el }) {
    const now = { sentence: "tired", head: "A", causal: true, row: 7 };
    const lastAnswers = {};
    let last = null;
    let until = 5;
    let page = 0;
    const parts = panel(el, hub, {
      id: "steps", number: "4", title: "The four steps",
      lede: ["The whole formula, for one row. Each line is one step, with the function that computed it and its file.", hub.live ? " The thin marks are the reference: the first step whose bars differ from the marks is the one to look at." : ""],
      note: ["The mask is between the second and the third step; it is the only difference in the attention of a GPT. The blend comes from scaled_dot_product_attention, which computes all steps."],
    });
    const tokens = () => (now.head.length > 1 ? hub.scene.sentences[now.sentence].tokens : hub.scene.sentences[now.sentence].words);
    const select = h("select", { "aria-label": "the word of the query" });
    const options = () => fill(select, tokens().map((word, i) => h("option", { value: i, selected: i === now.row }, word)));
    select.addEventListener("change", () => ((now.row = +select.value), ask(now)));
    const heads = choice("head", Object.keys(hub.scene.heads).filter((name) => ["A", "B", "L3H1", "L0H2"].includes(name)).map((name) => [name, name, hub.scene.heads[name]]), now.head, (head) => {
      const word = tokens()[now.row];
      now.head = head;
      now.row = Math.max(0, tokens().indexOf(word) >= 0 ? tokens().indexOf(word) : tokens().indexOf("it"));
      options();
      ask(now);
    });
    const play = button("play the steps", () => {
      until = moves() ? 0 : 5;
      const next = () => {
        if (last) show(last);
        if (until < 5) setTimeout(() => ((until += 1), next()), 750);
      };
      next();
    }, ".preset");
    options();
    fill(parts.controls, h("div.group", h("label.select", h("span", "the row of"), select), heads, toggle("causal mask", now.causal, (causal) => ((now.causal = causal), ask(now))), play));

    // All steps of an answer as they will be drawn, each with its parameters.
    const now_ = (answer) => {
      const { sentence, head, causal, row } = answer.ask;
      const mine = [sentence, head, row];
      const steps = {};
      for (const name of ["score", "scale"]) steps[name] = drawn(answer[name], lastAnswers, name, mine);
      if (answer.mask) steps.mask = drawn(answer.mask, lastAnswers, "mask", [row, answer.tokens.length]);
      steps.softmax = drawn(answer.softmax, lastAnswers, "softmax", [...mine, causal, steps.scale.cells]);
      steps.blend = drawn(answer.blend, lastAnswers, "blend", [...mine, causal]);
      return steps;
    };
    const show = (answer) => {
      last = answer;
      page = parts.figure.clientWidth;
      const names = Object.keys(WORDS).filter((name) => answer[name]);
      const all = now_(answer);
      const mask = all.mask || null;
      // Score and scale have the same axis, so that the division is visible.
      const most = Math.max(1, ...["score", "scale"].flatMap((name) => [largest(all[name].cells), largest(all[name].right)]));
      const least = Math.min(0, ...["score", "scale"].flatMap((name) => all[name].cells.concat(all[name].right)).map((x) => (odd(x) ? 0 : x)));
      const steps = Object.fromEntries(names.map((name) => [name, answer[name]]));
      const lines = names.map((name, i) => {
        const step = all[name];
        const [title, says] = WORDS[name];
        return h("li", { class: `step ${i >= until ? "waiting" : ""}` },
          h("div.stepname", h("span.stepnumber", name === "mask" ? "·" : String(i + 1 - (names.includes("mask") && i > 2 ? 1 : 0))), h("div", h("h3", title), h("p.sub", says), chip(answer[name], "", hub), step.old ? h("p.sub", "drawn: your last answer") : step.lost ? h("p.sub", "drawn by the reference") : null)),
          h("div.scroll", { tabindex: 0, role: "group", "aria-label": `${WORDS[name][0]}, by word` }, name === "blend" ? vector(step) : strips(name, step, mask, answer.tokens, { most, least, ghost: name === "scale" ? all.score : null })));
      });
      const before = [...parts.figure.querySelectorAll(".scroll")];
      const focused = before.indexOf(parts.figure.getRootNode().activeElement);
      const places = before.map((one) => one.scrollLeft);
      fill(parts.figure, h("ol.steps", lines));
      parts.figure.querySelectorAll(".scroll").forEach((one, i) => {
        one.scrollLeft = places[i] || 0;
        if (i === focused) one.focus({ preventScroll: true });
      });
      parts.tell(steps);
      const w = all.softmax;
      announce(`${answer.tokens[now.row]}: ${answer.tokens.map((word, i) => `${word} ${text(w.cells[i])}`).join(", ")}`);
    };
    // A row that does not fit is broken into lines.
    const strips = (name, step, mask, words, how) => {
      const room = parts.figure.clientWidth - (parts.figure.clientWidth > 800 ? 375 : 24);
      const fit = Math.floor(room / 42);
      const lines = Math.ceil(words.length / Math.max(1, fit));
      const each = Math.ceil(words.length / lines);
      const cell = Math.max(42, Math.min(64, Math.floor(room / each)));
      const drawings = Array.from({ length: lines }, (_, i) => strip(name, step, mask, words, { ...how, cell, from: i * each, to: Math.min(words.length, (i + 1) * each), low: lines > 1 }));
      if (name !== "softmax") return drawings;
      const sum = rowSum(step.cells);
      return [drawings, h("p", { class: `rowsum ${!step.mine && step.state !== "frozen" ? "plain" : sum.right ? "ok" : "wrong"}` }, `Σ ${sum.text}`)];
    };
    // Vertical bars above the words; masked ones are hatched.
    const strip = (name, step, mask, words, { most: shared, least, ghost, cell: CELL, from, to, low: flat }) => {
      const weights = name === "softmax";
      const bool = name === "mask";
      const hidden = (j) => mask && (name === "mask" || weights) && Number(mask.cells[j]) !== 1;
      const most = weights || bool ? 1 : shared;
      const height = bool ? 44 : flat ? 84 : 96;
      const low = weights || bool ? 0 : least;
      const base = low < 0 && !weights ? height / 2 : height - 4;
      const room = low < 0 && !weights ? height / 2 - 16 : height - 24;
      const y = (x) => base - (Math.max(-most, Math.min(most, x)) / most) * room;
      const width = (to - from) * CELL;
      const hatch = unique("hatch");
      const svg = s("svg.strip", { viewBox: `0 0 ${width} ${height + 24}`, width, height: height + 24, role: "img",
        class: `strip ${step.mine ? "mine" : "theirs"} ${step.old ? "old" : ""}`, "aria-label": `${WORDS[name][0]}: ${words.slice(from, to).map((word, j) => `${word} ${bool ? (Number(step.cells[from + j]) ? "may" : "may not") : text(step.cells[from + j])}`).join(", ")}` },
        s("defs", s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect.hatchback", { width: 6, height: 6 }), s("path.hatch", { d: "M0 0V6", "stroke-width": 2.2 }))),
        bool ? null : s("path.base", { d: `M0 ${base}H${width}` }));
      words.slice(from, to).forEach((word, nth) => {
        const j = from + nth;
        const x = nth * CELL + CELL / 2;
        const value = step.cells[j];
        const truth = step.right[j];
        if (bool) {
          const shown = Number(value) === 1;
          const box = s("rect", { x: x - 17, y: height / 2 - 14, width: 34, height: 28, rx: 4, class: `allow ${shown ? "" : "hidden"}` });
          if (!shown) box.style.fill = `url(#${hatch})`;
          svg.append(box, s("text.num", { x, y: height / 2 + 4, "text-anchor": "middle", class: `num ${shown ? "" : "onhatch"}` }, shown ? "may" : "−∞"));
        } else if (odd(value)) {
          svg.append(s("rect.cell.lost", { x: x - 17, y: base - 34, width: 34, height: 30, rx: 3 }), s("text.in.lost", { x, y: base - 15, "text-anchor": "middle" }, text(value)));
        } else {
          if (hidden(j)) {
            const cell = s("rect.hiddenbar", { x: x - 13, y: 14, width: 26, height: base - 14, rx: 2 });
            cell.style.fill = `url(#${hatch})`;
            svg.append(cell);
          }
          const top = y(value);
          const before = ghost?.cells[j];
          if (ghost && !odd(before)) svg.append(s("rect.ghost", { x: x - 13, y: Math.min(base, y(before)), width: 26, height: Math.max(0.75, Math.abs(y(before) - base)), rx: 1.5 }));
          // The number is beyond the bar and the mark of the reference, so that it stays readable.
          const marks = [top, ...(odd(truth) ? [] : [y(truth)])];
          const above = Math.max(10, Math.min(base, ...marks) - 4);
          const under = Math.max(base, ...marks) + 12;
          svg.append(s("rect.upright", { x: x - 13, y: Math.min(base, top), width: 26, height: Math.max(0.75, Math.abs(top - base)), rx: 1.5 }));
          if (!(hidden(j) && value === 0)) svg.append(s("text.num.free", { x, y: value < 0 ? under : above, "text-anchor": "middle" }, weights ? short(value) : text(value, 1)));
        }
        if (!odd(truth) && !bool && step.state !== "frozen") svg.append(s("path.ticked", { d: `M${x - 16} ${y(truth)}h32` }));
        if (bool && step.mine && Number(value) !== Number(truth)) svg.append(s("path.ticked", { d: `M${x - 17} ${height / 2 + 19}h34` }));
        svg.append(s("text", { class: `word ${j === now.row ? "here" : ""}`, x, y: height + 16, "text-anchor": "middle" }, word.length > 7 ? `${word.slice(0, 6)}…` : word));
      });
      return svg;
    };
    const vector = (step) => {
      const most = Math.max(largest(step.cells), largest(step.right));
      const size = step.cells.length > 8 ? Math.max(8, Math.min(22, Math.floor((parts.figure.clientWidth - 94) / step.cells.length))) : 56;
      const rows = step.mine && !step.agrees ? [["yours", step.cells], ["reference", step.right]] : [[step.mine ? "yours" : step.old ? "before" : "reference", step.cells]];
      const svg = s("svg.vector", { viewBox: `0 0 ${step.cells.length * size + 70} ${rows.length * 34 + 8}`, width: step.cells.length * size + 70, height: rows.length * 34 + 8, role: "img", class: step.old ? "vector old" : "vector", "aria-label": `blend: ${step.cells.map((x) => text(x)).join(", ")}` });
      rows.forEach(([name, cells], r) => {
        cells.forEach((value, j) => {
          const tint = odd(value) ? null : shade(value / most, theme(), name === "yours" ? "mine" : "theirs");
          const cell = s("rect", { class: `cell ${odd(value) ? "lost" : ""}`, x: j * size + 1, y: r * 34 + 2, width: size - 2, height: 28, rx: 2 });
          if (tint) cell.style.fill = tint.fill;
          svg.append(cell);
          if (size > 30) {
            const written = s("text.in", { x: j * size + size / 2, y: r * 34 + 20, "text-anchor": "middle" }, text(value));
            if (tint) written.style.fill = tint.text;
            svg.append(written);
          }
        });
        svg.append(s("text", { class: "axis", x: cells.length * size + 6, y: r * 34 + 20 }, name));
      });
      return svg;
    };
    const ask = hub.asker("steps", show);
    parts.unsourced = true;
    document.addEventListener("lab:theme", () => last && show(last));
    hub.on("verdict", () => last && [...parts.figure.querySelectorAll(".stepname .chip")].forEach((old, i) => old.replaceWith(chip(Object.keys(WORDS).filter((name) => last[name]).map((name) => last[name])[i], "", hub))));
    new ResizeObserver(() => last && Math.abs(parts.figure.clientWidth - page) > 4 && show(last)).observe(parts.figure);
    ask(now);
  },
};
