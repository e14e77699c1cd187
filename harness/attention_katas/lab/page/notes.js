// Who computed what, and what went wrong with it: the words beside every picture.

import { h } from "./dom.js";
import { flat, odd, sum, text } from "./numbers.js";

// The answer as it is to be drawn: what is shown, whether it is the learner's, whether it is old.
// `kept` holds the learner's last good answer, so that an exception leaves its picture standing.
export function drawn(step, kept, key) {
  const same = (a, b) => Array.isArray(a) === Array.isArray(b) && (!Array.isArray(a) || (a.length === b.length && same(a[0], b[0])));
  if (step.state === "yours") {
    kept[key] = step.yours;
    return { ...step, cells: step.yours, mine: true, old: false };
  }
  const broken = step.state !== "unwritten" && step.state !== "frozen";
  const last = kept[key];
  if (broken && last && same(last, step.right)) return { ...step, cells: last, mine: false, old: true };
  return { ...step, cells: step.right, mine: false, old: broken };
}

const SAYS = { raised: "raised", stopped: "was stopped", shape: "has another shape", dtype: "has another type", broken: "does not load" };

// One chip for each function: name, file, and how it stands to the reference.
export function chip(step, what = "") {
  const name = h("code", step.function);
  const file = h("span.file", step.file);
  const label = what ? h("span.what", what) : null;
  if (step.state === "frozen") return h("span.chip.frozen", label, name, file, h("em", "the reference's"));
  if (step.state === "unwritten") {
    const how = step.kata ? h("a", { href: `#kata-${step.kata}` }, `kata show ${step.kata}`) : null;
    return h("span.chip.unwritten", label, name, file, h("em", "not written yet, so the reference drew it "), how);
  }
  if (step.state !== "yours") return h("span.chip.bad", label, name, file, h("em", SAYS[step.state]));
  if (step.agrees) return h("span.chip.good", label, name, file, h("em", "yours, as the reference"));
  if (step.alone) return h("span.chip.after", label, name, file, h("em", "yours, off by what it was given"));
  return h("span.chip.off", label, name, file, h("em", "yours, not as the reference"));
}

export const provenance = (steps) => h("div.chips", Object.entries(steps).map(([what, step]) => chip(step, what)));

// Errors and NaN, in words, above the picture.
export function banners(steps) {
  const seen = new Set();
  const told = [];
  for (const [what, step] of Object.entries(steps)) {
    const id = `${step.file} ${step.said} ${step.where?.line}`;
    if (SAYS[step.state] && !seen.has(id)) {
      seen.add(id);
      const place = step.where ? `${step.where.file}:${step.where.line}` : step.file;
      told.push(
        h("div.banner.bad", { role: "alert" },
          h("strong", `${step.function} ${SAYS[step.state]}`), " ",
          h("code.place", place), " ",
          h("span", step.kind && !["shape", "dtype", "failed", "timed out"].includes(step.kind) ? `${step.kind}: ${step.said}` : step.said),
          step.where?.code ? h("pre", step.where.code) : null,
          h("p.fine", "Your last good picture stays, greyed, or else the reference's. Save the file, and it is computed again.")),
      );
    }
    if (step.backward) told.push(h("div.banner.bad", { role: "alert" }, h("strong", `backward of ${step.function}`), `: ${step.backward}`));
    const cells = step.state === "yours" ? flat(step.yours) : [];
    const bad = cells.filter((x) => x === "nan" || x === "inf");
    if (bad.length) {
      const name = bad.includes("nan") ? "NaN" : "infinity";
      told.push(
        h("div.banner.nan", { role: "alert" },
          h("strong", name), ` ${step.function} answered with ${name} in ${bad.length} of ${cells.length} ${what}. `,
          h("span", name === "NaN" ? "Usually inf / inf or 0 / 0: an exponential that overflowed, or a row in which nothing was left to attend." : "")),
      );
    }
    if (step.printed) told.push(h("details.printed", h("summary", `${step.file} printed`), h("pre", step.printed)));
  }
  return told;
}

// The judge's diagnosis of the katas that a picture uses, by name.
export function tutor(hub, steps, title) {
  const katas = [...new Set(Object.values(steps).filter((step) => step.state !== "unwritten").map((step) => step.kata))];
  return katas.flatMap((name) => {
    const verdict = hub.verdicts[name];
    if (!verdict || verdict.judging || !verdict.diagnoses?.length) return [];
    return verdict.diagnoses.map((found) =>
      h("div.tutor", { role: "note", "aria-label": `the judge on ${found.function}, beside ${title}`, "data-id": found.id },
        h("p.says", h("code", found.function), " ", found.says, found.symptoms?.length ? ":" : ""),
        found.symptoms?.length ? h("ul", found.symptoms.map((one) => h("li", one))) : null,
        found.ask ? h("p", found.ask) : null,
        found.hint ? h("p.fine", "a nudge: ", h("code", found.hint)) : null));
  });
}

export function rowSum(cells) {
  const total = sum(cells);
  const right = Math.abs(total - 1) <= 1e-5;
  return { total: Number.isNaN(total) ? "nan" : total, right, text: Number.isNaN(total) ? "NaN" : text(total, 3) };
}

// One sentence below the bars.
export function verdictLine(step, what = "weights") {
  const { total, right, text: said } = rowSum(step.cells);
  const sums = h("span", { class: right ? "ok" : "wrong" }, `Σ = ${said}`);
  if (step.state === "frozen") return h("p.line", sums, ", computed by the reference's formula.");
  if (!step.mine) return h("p.line", sums, step.old ? ", not your last word: see above." : ", drawn by the reference.");
  if (odd(total)) return h("p.line", sums, ": these are no weights.");
  const words = step.agrees ? `: your ${what} and the reference's are the same to 1e-6.` : step.alone
    ? `: right for what softmax was given, but the scores before it are off.`
    : `: your ${what} differ from the reference's.`;
  return h("p.line", sums, words);
}

export function announce(words) {
  const { live } = announce;
  if (!live) return;
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => (live.textContent = words), 400);
}

