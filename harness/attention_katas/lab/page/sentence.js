// 3. The sentence: click a word to see which words it attends to.

import { h, s, fill, choice, toggle } from "./dom.js";
import { heat, legend } from "./heat.js";
import { announce, drawn, rowSum } from "./notes.js";
import { panel } from "./panel.js";
import { largest, odd, short, text } from "./numbers.js";

const CAPTIONS = {
  A: ["Made by hand: four numbers for each word: creature, place, deed and state. The query of “it” matches what can be tired, or wide: change the last word and watch."],
  B: ["Made by hand: each position is a point on four circles, and its query matches the position before it. The same operation with another purpose."],
  L3H1: ["A trained head: “it” attends to the animal, though nobody wrote that rule. With “wide” its weights move towards the street, but not all the way: one head in one layer is not the model's understanding."],
  L0H2: ["A trained head that learnt the pattern of head B: the token before, with a weight of nearly 1."],
  L1H8: ["A trained head that mostly attends to the next token."],
  L5H11: ["A trained head in which nearly every word attends to the subject: a topic, not a reference."],
  L4H5: ["A trained head with no match in this sentence: it puts its weight on [CLS], as many heads do."],
};

export default {
  render({ model: hub, el }) {
    const now = { sentence: "tired", head: "A", causal: false, divide: true };
    const lastAnswers = {};
    let row = 7;
    let at = null;
    let view = "weights";
    let last = null;
    const parts = panel(el, hub, {
      id: "sentence", number: "3", title: "One sentence, several heads",
      lede: "What does “it” refer to? Click a word to see which words it attends to in each head: two heads made by hand, then heads of a trained model with its real queries and keys.",
      note: [`Trained heads: ${hub.scene.model}. Its tokenizer splits “didn't” into three tokens and adds [CLS] and [SEP]; all of them are shown. The model was trained without a causal mask. With the mask you see the same head without the later tokens.`],
    });
    const title = (name) => (name.length > 1 ? `trained: ${place(name)}` : hub.scene.heads[name]);
    const place = (name) => {
      const [, layer, number] = /L(\d+)H(\d+)/.exec(name);
      const role = hub.scene.heads[name].replace("->", "→");
      return `layer ${layer}, head ${number}, counted from 0 · ${/\((.*)\)/.exec(role)?.[1] || role}`;
    };
    const heads = choice("head", Object.keys(hub.scene.heads).map((name) => [name, name.length > 1 ? name : `${name} · ${hub.scene.heads[name]}`, title(name)]), now.head, (head) => {
      const word = tokens()[row];
      now.head = head;
      const there = tokens().findIndex((one) => one === word);
      row = there >= 0 ? there : tokens().indexOf("it");
      at = null;
      ask(now);
    });
    const tokens = () => (now.head.length > 1 ? hub.scene.sentences[now.sentence].tokens : hub.scene.sentences[now.sentence].words);
    fill(parts.controls,
      h("div.group", heads),
      h("div.group", choice("the animal was too", [["tired", "tired"], ["wide", "wide"]], now.sentence, (sentence) => ((now.sentence = sentence), ask(now))),
        toggle("causal mask", false, (causal) => ((now.causal = causal), ask(now))),
        toggle("divide by √d_k", true, (divide) => ((now.divide = divide), ask(now))),
        choice("show", [["weights", "weights"], ["scores", "scores"]], view, (kind) => ((view = kind), last && show(last)))));

    const arcs = s("svg.arcs", { "aria-hidden": "true" });
    const words = h("div.words", { role: "group", "aria-label": "the sentence: choose the query" });
    const caption = h("p.about");
    const reading = h("p.readout");
    const matrices = h("div.matrices");
    const scale = h("div");
    fill(parts.figure, h("div.sentence", arcs, words), h("div.read", h("div.words-about", caption, reading, scale), matrices));

    const pick = (i) => {
      row = i;
      if (at) at = [i, at[1]];
      if (last) show(last);
    };
    // All steps of an answer as they will be drawn, each with its parameters.
    const now_ = (answer) => {
      const { sentence, head, causal, divide } = answer.ask;
      const scores = drawn(answer.scores, lastAnswers, "scores", [sentence, head, divide]);
      return { scores,
        mask: answer.mask ? drawn(answer.mask, lastAnswers, "mask", answer.tokens.length) : null,
        w: drawn(answer.weights, lastAnswers, "weights", [sentence, head, causal, divide, scores.cells]) };
    };
    const show = (answer) => {
      last = answer;
      const count = answer.tokens.length;
      row = Math.min(row, count - 1);
      if (at && (at[0] >= count || at[1] >= count)) at = null;
      const steps = { scores: answer.scores, ...(answer.mask ? { mask: answer.mask } : {}), weights: answer.weights };
      const { w, mask } = now_(answer);
      const allowed = (i, j) => !mask || Number(mask.cells[i][j]) === 1;
      paintWords(answer.tokens, w, allowed);
      const { head } = answer.ask;
      fill(caption, head.length > 1 ? h("span.sub", place(head)) : null, CAPTIONS[head]);
      paintMatrices(answer, w, allowed);
      parts.tell(steps);
      read(answer, w);
    };
    const paintWords = (list, w, allowed) => {
      const buttons = list.map((word, i) => {
        const value = w.cells[row][i];
        const truth = w.right[row][i];
        const visible = allowed(row, i);
        const one = h("button.token", { type: "button", "aria-pressed": String(i === row), class: `token ${i === row ? "asks" : ""} ${visible ? "" : "hidden"} ${/^\[/.test(word) ? "extra" : ""} ${odd(value) ? "lost" : ""}`,
          "aria-label": `${word}: ${visible || value !== 0 ? `weight ${text(value)}` : "masked"}` },
          h("span.tokenword", word), h("span.meter", h("span.fill", { class: `fill ${w.mine ? "mine" : "theirs"} ${w.old ? "old" : ""}` }), w.state === "frozen" || odd(truth) ? null : h("span.tick")), h("span.share", odd(value) ? text(value) : !visible && value === 0 ? "" : text(value)));
        one.querySelector(".fill").style.height = odd(value) ? "0" : `${100 * Math.max(0, Math.min(1, value))}%`;
        const tick = one.querySelector(".tick");
        if (tick) tick.style.bottom = `${100 * Math.max(0, Math.min(1, truth))}%`;
        one.addEventListener("click", () => pick(i));
        return one;
      });
      const focused = words.contains(words.getRootNode().activeElement) ? [...words.children].indexOf(words.getRootNode().activeElement) : -1;
      fill(words, buttons);
      if (focused >= 0) words.children[Math.min(focused, list.length - 1)]?.focus();
      paintArcs(w);
    };
    words.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const here = [...words.children].indexOf(words.getRootNode().activeElement);
      const to = Math.max(0, Math.min(words.children.length - 1, here + step));
      event.preventDefault();
      words.children[to].focus();
      pick(to);
    });
    const paintArcs = (w) => {
      const boxes = [...words.children].map((one) => one.getBoundingClientRect());
      const home = arcs.parentElement.getBoundingClientRect();
      const oneLine = boxes.every((box) => Math.abs(box.top - boxes[0].top) < 2);
      arcs.parentElement.classList.toggle("wrapped", !oneLine);
      if (!oneLine || !home.width) {
        arcs.setAttribute("width", 0);
        return fill(arcs);
      }
      const middle = (i) => boxes[i].left - home.left + boxes[i].width / 2;
      const height = 92;
      arcs.setAttribute("viewBox", `0 0 ${home.width} ${height}`);
      arcs.setAttribute("width", home.width);
      arcs.setAttribute("height", height);
      const from = middle(row);
      fill(arcs, w.cells[row].map((value, i) => {
        if (odd(value) || value < 0.004) return null;
        const to = middle(i);
        const lift = i === row ? 34 : Math.min(84, 22 + Math.abs(to - from) * 0.3);
        const d = i === row ? `M${from - 7} ${height}C${from - 24} ${height - lift * 1.3} ${from + 24} ${height - lift * 1.3} ${from + 7} ${height}` : `M${from} ${height}C${from} ${height - lift * 1.25} ${to} ${height - lift * 1.25} ${to} ${height}`;
        return s("path", { class: `arc ${w.mine ? "mine" : "theirs"} ${w.old ? "old" : ""}`, d, "stroke-width": 1 + 9 * Math.min(1, value), "stroke-opacity": 0.25 + 0.75 * Math.min(1, value) });
      }));
    };
    const paintMatrices = (answer, w, allowed) => {
      const step = view === "weights" ? w : now_(answer).scores;
      const hidden = (i, j) => answer.mask && !allowed(i, j);
      const raw = (cells) => (view === "weights" ? cells : cells.map((line, i) => line.map((x, j) => (hidden(i, j) ? "-inf" : x))));
      const right = raw(step.right);
      const cells = raw(step.cells);
      const most = view === "weights" ? 1 : Math.max(largest(right), largest(cells));
      const common = { rows: answer.tokens, columns: answer.tokens, masked: hidden, most, sums: view === "weights", at, move, here: () => at || [row, 0], room: parts.figure.clientWidth - 24 };
      const focus = matrices.contains(words.getRootNode().activeElement) ? [...matrices.querySelectorAll("svg.heat")].indexOf(words.getRootNode().activeElement) : -1;
      const differs = step.mine && !step.agrees;
      const figures = [heat({ ...common, title: step.mine ? "yours" : step.old ? "your last answer" : step.lost ? "the reference: this save has no answer" : "the reference", cells, old: step.old, kind: step.mine ? "mine" : step.old ? "theirs before" : "theirs" })];
      if (differs) {
        const truth = hub.scene && answer.mask ? (i, j) => j > i : () => false;
        figures.push(heat({ ...common, masked: truth, title: "the reference", cells: view === "weights" ? step.right : step.right.map((line, i) => line.map((x, j) => (truth(i, j) ? "-inf" : x))), kind: "theirs" }));
        const gap = step.cells.map((line, i) => line.map((x, j) => (odd(x) || odd(step.right[i][j]) ? "nan" : Math.abs(x - step.right[i][j]))));
        const widest = Math.max(1e-6, largest(gap));
        const last_ = heat({ ...common, masked: () => false, title: "the difference", cells: gap, most: widest, sums: false, kind: "gap", label: short });
        last_.append(legend(widest, false, "gap", { masked: false }));
        figures.push(last_);
      }
      matrices.parentElement.classList.toggle("three", differs);
      const before = [...matrices.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
      fill(matrices, figures);
      matrices.querySelectorAll(".scroll").forEach((one, i) => (one.scrollLeft = before[i] || 0));
      if (focus >= 0) matrices.querySelectorAll("svg.heat")[Math.min(focus, figures.length - 1)].focus({ preventScroll: true });
      const over = view === "weights" && step.cells.flat().some((x) => !odd(x) && (x > 1 + 1e-6 || x < -1e-6));
      fill(scale, legend(most, view !== "weights", step.mine ? "mine" : "theirs", { masked: Boolean(answer.mask), lost: step.cells.flat().some((x) => x === "nan"), over }));
    };
    let due = false;
    const move = (cell, how) => {
      if (at && at[0] === cell[0] && at[1] === cell[1] && how === "hover") return;
      at = cell;
      row = cell[0];
      if (due) return;
      due = true;
      requestAnimationFrame(() => ((due = false), last && show(last)));
    };
    const read = (answer, w) => {
      const [i, j] = at || [row, null];
      const words_ = answer.tokens;
      const line = w.cells[i];
      const message = [h("strong", `“${words_[i]}”`)];
      if (j === null) {
        const best = line.map((x, k) => [odd(x) ? -1 : x, k]).sort((a, b) => b[0] - a[0]).slice(0, 3).filter(([x]) => x > 0);
        if (!best.length) message.push(": no weight above 0; its row sums to ", rowSum(line).text, ".");
        else message.push(" attends to ", best.map(([x, k], n) => [n ? ", " : "", h("strong", words_[k]), ` ${text(x)}`]), "; its row sums to ", rowSum(line).text, ".");
      } else {
        const score = now_(answer).scores.cells[i][j];
        message.push(" → ", h("strong", `“${words_[j]}”`), `: score ${text(score)}, weight `, h("strong", text(line[j], 3)), w.mine && !w.agrees ? `, reference ${text(w.right[i][j], 3)}` : "", ".");
      }
      fill(reading, message);
      announce(reading.textContent);
    };
    const ask = hub.asker("sentence", show);
    const again = () => last && paintArcs(now_(last).w);
    new ResizeObserver(again).observe(parts.figure);
    document.addEventListener("lab:theme", () => last && show(last));
    ask(now);
  },
};

