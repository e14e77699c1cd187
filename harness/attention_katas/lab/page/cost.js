// 6. Costs: several heads cost as much as one; the cost grows with the square of the length.

import { h, s, fill, button, slider } from "./dom.js";
import { panel } from "./panel.js";
import { text } from "./numbers.js";
import { announce } from "./notes.js";

const HEADS = [1, 2, 4, 8, 16];
const LENGTHS = [64, 128, 256, 512, 1024, 2048, 4096];
const FIRST = 2048; // the longest that is measured without a click

export default {
  render({ model: hub, el }) {
    const heads = new Map();
    const lengths = new Map();
    let chosen = 512;
    let turn = 0;
    let busy = true;
    const parts = panel(el, hub, {
      id: "cost", number: "6", title: "What it costs",
      lede: "Split a layer of width D into h heads of width D/h: the number of multiply-adds stays the same. Length is what costs. Every word scores every other word, so twice the text is four times the work.",
      note: [hub.live ? "Measured now on your code, on one processor of this machine. Your code and the reference run in two processes of the same kind, alternating, until the best times no longer change. Memory is the peak of your process minus its memory before the call. " : "Measured on the reference when this page was written, on one processor: the best of several runs. ", "Multiply-adds are counted from the formula and stay the same. The work of softmax grows: h heads have h times as many weights, which can show in the time."],
    });
    const pick = slider("n", hub.live ? LENGTHS : LENGTHS.filter((n) => n <= FIRST), chosen, (n) => {
      chosen = n;
      draw();
      if (!lengths.has(n)) measure([n]);
    }, (n) => `${n} words`);
    fill(parts.controls, h("div.group", pick, hub.live ? button("measure again", () => start(), ".preset") : null));
    const left = h("div.half");
    const right = h("div.half");
    fill(parts.figure, h("div.costs", left, right));

    const draw = () => {
      fill(left, h("h3", "D = 256, 192 words", h("span.sub", "in h heads")), table());
      fill(right, h("h3", "one head, d_k = 64", h("span.sub", "time and memory against length")), graph(), readout());
    };
    const table = () => {
      const points = HEADS.map((n) => heads.get(n));
      const most = Math.max(1e-9, ...points.filter(Boolean).flatMap((p) => [p.yours_ms ?? 0, p.right_ms]));
      const W = Math.max(290, Math.min(440, left.clientWidth || 380));
      const [first, bar] = [36, W * 0.29];
      const second = first + bar + 46;
      const wide = W - second - (hub.live ? 84 : 46);
      const svg = s("svg.headsgraph", { viewBox: `0 0 ${W} 232`, role: "img", "aria-label": points.filter(Boolean).map((p) => `${p.heads} heads: ${text((p.yours_ms ?? p.right_ms))} milliseconds`).join(", ") || "being measured" },
        s("text.axis", { x: first, y: 14 }, "multiply-adds, millions"), s("text.axis", { x: second, y: 14 }, "time, ms"),
        hub.live ? [s("text.axis", { x: W - 42, y: 14, "text-anchor": "end" }, "yours"), s("text.axis", { x: W - 2, y: 14, "text-anchor": "end" }, "ref.")] : null);
      HEADS.forEach((n, i) => {
        const y = 28 + i * 40;
        const point = points[i];
        svg.append(s("text.headcount", { x: 26, y: y + 18, "text-anchor": "end" }, n));
        if (!point) return svg.append(s("text.axis", { x: first, y: y + 18 }, busy ? "…" : "not measured"));
        const adds = point.multiply_adds;
        const total = adds.projections + adds.scores + adds.blend;
        let x = first;
        for (const name of ["projections", "scores", "blend"]) {
          const wide = (adds[name] / total) * bar;
          svg.append(s("rect", { class: `adds ${name}`, x, y: y + 4, width: wide - 1, height: 20, rx: 2 }, s("title", `${name}: ${text(adds[name] / 1e6, 1)} million`)));
          x += wide;
        }
        svg.append(s("text.num", { x: x + 5, y: y + 18 }, text(total / 1e6, 1)));
        const time = point.yours_ms ?? point.right_ms;
        svg.append(...[s("rect", { class: `time ${point.yours_ms == null ? "theirs" : "mine"}`, x: second, y: y + 4, width: Math.max(1, (time / most) * wide), height: 20, rx: 2 }),
          hub.live ? s("path.ticked", { d: `M${second + (point.right_ms / most) * wide} ${y}v28` }) : null,
          hub.live ? s("text.num.mine", { x: W - 42, y: y + 18, "text-anchor": "end" }, text(point.yours_ms, 1)) : null,
          s("text.num.theirs", { x: W - 2, y: y + 18, "text-anchor": "end" }, text(point.right_ms, 1))].filter(Boolean));
      });
      return h("div", svg, h("p.keys", h("span.adds.projections", "four projections"), h("span.adds.scores", "scores"), h("span.adds.blend", "blend")));
    };
    const graph = () => {
      const W = Math.max(280, Math.min(420, right.clientWidth || 420));
      const H = 260;
      const x = (n) => 46 + (Math.log2(n) - 6) * ((W - 76) / 6);
      const points = [...lengths.values()].sort((a, b) => a.n - b.n);
      const of = (key) => points.filter((p) => p[key]).map((p) => [p.n, p[key]]);
      const y = (v) => H - 30 - (Math.log10(Math.max(v, 0.01)) + 2) * ((H - 48) / 5.2);
      const path = (list) => list.map(([n, v], i) => `${i ? "L" : "M"}${x(n).toFixed(1)} ${y(v).toFixed(1)}`).join("");
      const time = of("yours_ms").length ? "yours_ms" : "right_ms";
      const anchor = of(time).at(-1);
      const guide = anchor ? LENGTHS.map((n) => [n, anchor[1] * (n / anchor[0]) ** 2]).filter(([, v]) => v > 0.009) : [];
      const dots = (list, kind) => list.map(([n, v]) => s("circle", { class: `${kind} ${n === chosen ? "here" : ""}`, cx: x(n), cy: y(v), r: n === chosen ? 5 : 3.2 }));
      return s("svg.loglog", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": points.map((p) => `${p.n} words: ${text(p[time])} milliseconds${p.yours_mb ? `, ${text(p.yours_mb, 1)} megabytes` : ""}`).join("; ") || "nothing measured yet" },
        [0.01, 0.1, 1, 10, 100, 1000].map((v) => [s("path.gridline", { d: `M46 ${y(v)}H${W - 30}` }), s("text.axis", { x: 40, y: y(v) + 4, "text-anchor": "end" }, v)]),
        LENGTHS.map((n) => s("text.axis", { x: x(n), y: H - 10, "text-anchor": "middle" }, n)),
        s("path.now", { d: `M${x(chosen)} 12V${H - 30}` }),
        s("path.square", { d: path(guide) }), guide.length ? s("text.axis.squareword", { x: x(guide.at(-1)[0]) + 4, y: y(guide.at(-1)[1]) + 4 }, "n²") : null,
        s("path.curve.reference", { d: path(of("right_ms")) }),
        s("path.curve.memory", { d: path(of("yours_mb")) }), dots(of("yours_mb"), "memory"),
        time === "yours_ms" ? [s("path.curve.time", { d: path(of("yours_ms")) }), dots(of("yours_ms"), "time")] : null);
    };
    const readout = () => {
      const p = lengths.get(chosen);
      const points = [...lengths.values()];
      const keys = h("p.keys", points.some((p_) => p_.yours_ms != null) ? h("span.key.time", "your time, ms") : null, points.some((p_) => p_.yours_mb) ? h("span.key.memory", "your memory, MB") : null, h("span.key.reference", "the reference's time, ms"), h("span.key.square", "n²"));
      if (!p) return [keys, h("p.readout", hub.live && busy ? `${chosen} words: being measured …` : `${chosen} words were not measured${stopped() ? ": see below" : ""}.`)];
      const noisy = [...points, ...heads.values()].some((p_) => p_.scatters) ? h("p.fine", "The machine is busy: these times vary.") : null;
      return [keys, h("p.readout", h("strong", `${chosen} words`), `: ${(chosen * chosen).toLocaleString("en")} scores, ${text(p.matrix_mb, p.matrix_mb < 1 ? 2 : 0)} MB for the matrix alone; `,
        p.yours_ms == null ? `the reference takes ${text(p.right_ms, 2)} ms` : [h("strong", `${text(p.yours_ms, 2)} ms`), ` and ${p.yours_mb ? `${text(p.yours_mb, 1)} MB` : "too little memory to measure"} for yours, ${text(p.right_ms, 2)} ms for the reference`], "."), noisy];
    };
    const stopped = () => [...heads.values(), ...lengths.values()].some((p) => p.step.state === "stopped");
    // Whether to measure on: a function that was stopped once would be stopped again.
    const record = (point, keep) => {
      if (point.unclear) {
        hub.emit("unclear", point.unclear, "cost");
        return false;
      }
      keep();
      draw();
      const steps = { heads: [...heads.values()].at(-1)?.step, "the square": [...lengths.values()].at(-1)?.step };
      parts.tell(Object.fromEntries(Object.entries(steps).filter(([, step]) => step)));
      return point.step.state !== "stopped";
    };
    const measure = async (ns, hs = []) => {
      const thisTurn = turn;
      busy = true;
      for (const n of hs) {
        const point = await hub.once("cost", { what: "heads", heads: n });
        if (thisTurn !== turn) return;
        if (!record(point, () => heads.set(n, point))) break;
      }
      for (const n of ns) {
        const point = await hub.once("cost", { what: "length", n });
        if (thisTurn !== turn) return;
        if (!record(point, () => lengths.set(n, point))) break;
      }
      busy = false;
      draw();
      el.dataset.measured = "all";
      announce(parts.figure.querySelector(".readout")?.textContent || "");
    };
    const start = () => {
      turn += 1;
      delete el.dataset.measured;
      heads.clear();
      lengths.clear();
      draw();
      measure(LENGTHS.filter((n) => n <= FIRST || n === chosen), HEADS);
    };
    // Measuring keeps a processor busy: it waits until the panel is visible and no save is recent.
    let visible = false;
    let stale = true;
    let timer;
    const begin = () => {
      if (!visible || !stale) return;
      stale = false;
      start();
    };
    hub.on("saved", () => {
      [stale, turn] = [true, turn + 1];
      clearTimeout(timer);
      timer = setTimeout(begin, 1000);
    });
    draw();
    new IntersectionObserver((entries) => ((visible = entries.at(-1).isIntersecting), begin())).observe(el);
  },
};
