// 4. The four steps: one word's row, followed through all of them.

import { h, s, fill, button, choice, toggle, moves } from "./dom.js";
import { announce, chip, drawn, rowSum } from "./notes.js";
import { frame } from "./frame.js";
import { largest, odd, shade, text, short } from "./numbers.js";
import { unique } from "./dom.js";

const WORDS = {
  score: ["Score", "the dot product of this query with every key"],
  scale: ["Scale", "divided by √d_k"],
  mask: ["Mask", "what lies ahead is set to −∞"],
  softmax: ["Softmax", "into weights that sum to one"],
  blend: ["Blend", "the weighted sum of all values: what the word becomes"],
};

export default {
  render({ model: hub, el }) {
    const now = { sentence: "tired", head: "A", causal: true, row: 7 };
    const kept = {};
    let last = null;
    let until = 5;
    const parts = frame(el, hub, {
      id: "steps", number: "4", title: "The four steps",
      lede: ["The whole formula, for one row. Each line is one step, with the function that took it and the file it stands in.", hub.live ? " The thin marks are the reference's: where they leave your bars, look at that step first." : ""],
      note: ["The mask belongs between the second and the third step, and is all that a GPT does differently. The blend comes from scaled_dot_product_attention, which takes all steps at once."],
    });
    const tokens = () => (now.head.length > 1 ? hub.scene.sentences[now.sentence].tokens : hub.scene.sentences[now.sentence].words);
    const select = h("select", { "aria-label": "the word that asks" });
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

    const show = (answer) => {
      last = answer;
      const names = Object.keys(WORDS).filter((name) => answer[name]);
      const mask = answer.mask ? drawn(answer.mask, kept, "mask") : null;
      const steps = Object.fromEntries(names.map((name) => [name, answer[name]]));
      const lines = names.map((name, i) => {
        const step = drawn(answer[name], kept, name);
        const [title, says] = WORDS[name];
        return h("li", { class: `step ${i >= until ? "waiting" : ""}` },
          h("div.stepname", h("span.stepnumber", name === "mask" ? "·" : String(i + 1 - (names.includes("mask") && i > 2 ? 1 : 0))), h("div", h("h3", title), h("p.sub", says), chip(answer[name]))),
          h("div.scroll", { tabindex: 0, role: "group", "aria-label": `${WORDS[name][0]}, by word` }, name === "blend" ? vector(step) : strip(name, step, mask, answer.tokens)));
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
      parts.sources.replaceChildren();
      const w = drawn(answer.softmax, kept, "softmax");
      announce(`${answer.tokens[now.row]}: ${answer.tokens.map((word, i) => `${word} ${text(w.cells[i])}`).join(", ")}`);
    };
    const cell = (count) => {
      const room = parts.figure.clientWidth - (parts.figure.clientWidth > 800 ? 375 : 110);
      return Math.max(42, Math.min(64, Math.floor(room / count)));
    };
    // Upright bars over the words; what the mask hides is hatched.
    const strip = (name, step, mask, words) => {
      const weights = name === "softmax";
      const bool = name === "mask";
      const hidden = (j) => mask && (name === "mask" || weights) && Number(mask.cells[j]) !== 1;
      const most = weights || bool ? 1 : Math.max(1, largest(step.cells), largest(step.right));
      const height = bool ? 44 : 96;
      const CELL = cell(words.length);
      const low = Math.min(0, ...step.cells.concat(step.right).map((x) => (odd(x) ? 0 : x)));
      const base = low < 0 && !weights ? height / 2 : height - 4;
      const room = low < 0 && !weights ? height / 2 - 8 : height - 22;
      const y = (x) => base - (Math.max(-most, Math.min(most, x)) / most) * room;
      const width = words.length * CELL;
      const hatch = unique("hatch");
      const svg = s("svg.strip", { viewBox: `0 0 ${width + 64} ${height + 24}`, width: width + 64, height: height + 24, role: "img",
        class: `strip ${step.mine ? "mine" : "theirs"} ${step.old ? "old" : ""}`, "aria-label": `${WORDS[name][0]}: ${words.map((word, j) => `${word} ${bool ? (Number(step.cells[j]) ? "may" : "may not") : text(step.cells[j])}`).join(", ")}` },
        s("defs", s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect.hatchback", { width: 6, height: 6 }), s("path.hatch", { d: "M0 0V6", "stroke-width": 2.2 }))),
        bool ? null : s("path.base", { d: `M0 ${base}H${width}` }));
      words.forEach((word, j) => {
        const x = j * CELL + CELL / 2;
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
          svg.append(s("rect.upright", { x: x - 13, y: Math.min(base, top), width: 26, height: Math.max(0.75, Math.abs(top - base)), rx: 1.5 }));
          if (!(hidden(j) && value === 0)) svg.append(s("text.num", { x, y: value < 0 ? top + 12 : Math.max(10, top - 4), "text-anchor": "middle" }, weights ? short(value) : text(value, 1)));
        }
        if (!odd(truth) && !bool && step.state !== "frozen") svg.append(s("path.ticked", { d: `M${x - 16} ${y(truth)}h32` }));
        if (bool && step.mine && Number(value) !== Number(truth)) svg.append(s("path.ticked", { d: `M${x - 17} ${height / 2 + 19}h34` }));
        svg.append(s("text", { class: `word ${j === now.row ? "here" : ""}`, x, y: height + 16, "text-anchor": "middle" }, word.length > 7 ? `${word.slice(0, 6)}…` : word));
      });
      if (weights) {
        const told = rowSum(step.cells);
        svg.append(s("text", { class: `sum ${told.right ? "" : "wrong"}`, x: width + 8, y: height / 2 }, `Σ ${told.text}`));
      }
      return svg;
    };
    const vector = (step) => {
      const most = Math.max(largest(step.cells), largest(step.right));
      const size = step.cells.length > 8 ? 22 : 56;
      const rows = step.mine && !step.agrees ? [["yours", step.cells], ["reference", step.right]] : [[step.mine ? "yours" : "reference", step.cells]];
      const svg = s("svg.vector", { viewBox: `0 0 ${step.cells.length * size + 70} ${rows.length * 34 + 8}`, width: step.cells.length * size + 70, height: rows.length * 34 + 8, role: "img", class: step.old ? "vector old" : "vector", "aria-label": `blend: ${step.cells.map((x) => text(x)).join(", ")}` });
      rows.forEach(([name, cells], r) => {
        cells.forEach((value, j) => {
          const tint = odd(value) ? null : shade(value / most);
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
    document.addEventListener("lab:theme", () => last && show(last));
    ask(now);
  },
};
