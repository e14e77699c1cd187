// Who computed what, and what went wrong with it: the words beside every picture.

import { h } from "./dom.js";
import { flat, odd, sum, text } from "./numbers.js";

// The answer as it is to be drawn: what is shown, whether it is the learner's, whether it is old.
// `lastAnswers` holds the learner's last answer: when there is none now, that is shown as long as the
// question is the same. To another question it is no answer, and the reference's is drawn.
export function drawn(step, lastAnswers, key, question = "") {
  const questionKey = JSON.stringify(question);
  if (step.state === "yours") {
    lastAnswers[key] = { cells: step.yours, questionKey };
    return { ...step, cells: step.yours, mine: true, old: false, lost: false };
  }
  const lost = step.state !== "unwritten" && step.state !== "frozen";
  const last = lastAnswers[key];
  const old = lost && last?.questionKey === questionKey;
  return { ...step, cells: old ? last.cells : step.right, mine: false, old, lost };
}

const FAILED = new Set(["raised", "stopped", "shape", "dtype", "broken"]);
// What a step's function is off because of, as far as the judge knows.
const judged = (hub, step) => hub?.verdicts[step.kata]?.diagnoses?.filter((one) => one.function === step.function) || [];
const listing = (names) => names.join(", ").replace(/, ([^,]*)$/, " and $1");
const blamed = (hub, step) => listing(judged(hub, step).find((one) => one.blames.length)?.blames || []);
const alsoWrong = (hub, step) => listing(judged(hub, step).find((one) => one.also_wrong.length)?.also_wrong || []);

// How a function stands to the reference, in a few words.
function standing(step, hub) {
  const elsewhere = step.where && step.where.file !== step.file ? ` in ${step.where.file}` : step.culprit && step.culprit !== step.file ? ` in ${step.culprit}` : "";
  if (step.state === "raised") return ["bad", step.returned_nothing ? "returned nothing" : `raised${elsewhere}`];
  if (step.state === "stopped") return ["bad", `was stopped${elsewhere}`];
  if (step.state === "broken") return ["bad", elsewhere ? `needs ${step.where.file}, which does not load` : "does not load"];
  if (step.state === "shape" || step.state === "dtype") return ["bad", step.message];
  if (step.agrees) return step.gradient === false || step.backward ? ["off", "yours; no gradient came back"] : ["good", "yours, as the reference"];
  if (step.alone) return ["after", "yours, off by what it was given"];
  const cause = blamed(hub, step);
  if (cause) return ["after", `yours, off because of ${cause}`];
  const too = alsoWrong(hub, step);
  return ["off", too ? `yours, not as the reference; nor is ${too}` : "yours, not as the reference"];
}

// One chip for each function: name, file, and how it stands to the reference.
export function chip(step, what = "", hub = null) {
  const name = h("code", step.function);
  const file = h("span.file", step.file);
  const label = what && !step.function.includes(what.replace(/s$/, "")) ? h("span.what", what) : null;
  if (step.state === "frozen") return h("span.chip.frozen", label, name, file, h("em", "the reference's"));
  if (step.state === "unwritten") {
    const how = step.kata ? h("a", { href: `#kata-${step.kata}` }, `kata show ${step.kata}`) : null;
    return h("span.chip.unwritten", label, name, file, h("em", "not written yet, so the reference drew it "), how);
  }
  const [kind, words] = standing(step, hub);
  return h(`span.chip.${kind}`, label, name, file, h("em", words));
}

export const provenance = (steps, hub) => h("div.chips", Object.entries(steps).map(([what, step]) => chip(step, what, hub)));

// What one failure is called, and where it is.
function failure(step) {
  const place = (file) => (step.where ? `${step.where.file}:${step.where.line}` : file);
  const typed = step.exception ? `${step.exception}: ` : "";
  if (step.state === "broken") return { title: `${step.where?.file || step.file} does not load`, place: place(step.file), said: typed + step.message };
  if (step.state === "stopped") {
    const file = step.culprit || step.file;
    return { title: `${file} was stopped`, place: place(file), said: `${step.function}: ${step.message}` };
  }
  if (step.state === "shape") return { title: step.function, place: place(step.file), said: step.message };
  if (step.state === "dtype") return { title: `${step.function} ${step.message}`, place: place(step.file), said: "" };
  if (step.returned_nothing) return { title: step.message, place: place(step.file), said: "" };
  return { title: `${step.function} raised`, place: place(step.file), said: typed + step.message };
}

const ENTRIES = { weights: "weights", scores: "scores", blend: "entries of the blend", score: "scores", scale: "scaled scores", softmax: "weights" };

// Errors and NaN, in words: one banner for each cause.
export function banners(steps) {
  const causes = new Map();
  const lost = [];
  const back = new Map();
  const printed = new Map();
  for (const [what, step] of Object.entries(steps)) {
    if (FAILED.has(step.state)) {
      const cause = failure(step);
      const id = step.state === "shape" || step.state === "dtype" ? `${step.function} ${cause.said}` : `${step.state} ${cause.place}`;
      if (!causes.has(id)) causes.set(id, { ...cause, step, also: [] });
      else if (causes.get(id).step.function !== step.function) causes.get(id).also.push(step.function);
    }
    const cells = step.state === "yours" ? flat(step.yours || []) : [];
    const count = step.cells && !Array.isArray(step.cells) ? step.cells : cells.length;
    const nan = step.nan ?? cells.filter((x) => x === "nan").length;
    const infinite = step.inf ?? cells.filter((x) => x === "inf").length;
    if (nan || infinite) lost.push({ name: nan ? "NaN" : "infinity", words: [h("code", step.function), ` in ${nan || infinite} of ${count} ${ENTRIES[what] || "numbers"}`] });
    if (step.backward) back.set(step.function, step.backward);
    if (step.printed) printed.set(step.printers, step.printed);
  }
  const boxes = [...causes.values()].map(({ title, place, said, step, also }) =>
    h("div.banner.bad", { role: "alert", "data-says": step.where ? `${title}, ${place}` : title },
      h("strong", title), " ", h("code.place", place), " ", h("span", said),
      also.length ? h("span", ` The same stops ${[...new Set(also)].join(" and ")}.`) : null,
      step.where?.code ? h("pre", step.where.code) : null,
      h("p.fine", "For the same question your last answer stays, greyed; for another one the reference draws. Save the file, and it is computed again.")));
  for (const [name, said] of back) boxes.push(h("div.banner.bad", { role: "alert", "data-says": `backward of ${name}` }, h("strong", `backward of ${name}`), `: ${said}`));
  if (lost.length) {
    const name = lost.some((one) => one.name === "NaN") ? "NaN" : "infinity";
    boxes.push(h("div.banner.nan", { role: "alert", "data-says": `${name} in what you answer` },
      h("strong", name), " from ", lost.map((one, i) => [i ? "; " : "", one.words]), ". ",
      h("span", name === "NaN" ? "Usually inf / inf or 0 / 0: an exponential that overflowed, or a row in which nothing was left to attend." : "")));
  }
  for (const [file, text_] of printed) boxes.push(h("details.printed", h("summary", `${file} printed`), h("pre", text_)));
  return boxes;
}

// Whether a picture shows this mistake: true, false, or a sentence on where it would. The mistake
// says what it shows in: see `shows` in attention_katas/authoring/mistakes.py.
function shows(found, step, panel) {
  if (found.shows === "gradient") return step.gradient === false;
  if (found.shows === "nothing") return false;
  // Finite numbers have not overflowed: something else is behind them.
  const finite = found.shows === "overflow" && step.state === "yours" && step.finite !== false;
  if (!finite && (FAILED.has(step.state) || (step.state === "yours" && !step.alone))) return true;
  if (panel !== "lookup") return false;
  if (found.shows === "overflow") return "It does not show at this place: go far out, with d_k 512, without the division, at temperature 0.1.";
  if (found.shows === "rows") return "Here there is one row, so it does not show: look at picture 3.";
  return false;
}

const drawable = (diagnosis) => diagnosis.shows !== "nothing" && diagnosis.shows !== "gradient";

// The judge's diagnoses of what a picture calls, by name: {boxes, rest}. An answer that is off
// because of earlier work brings the diagnosis of that work.
export function tutor(hub, steps, title, panel) {
  const boxes = new Map();
  const rest = new Map();
  const all = Object.values(hub.verdicts).flatMap((verdict) => (verdict.judging ? [] : verdict.diagnoses || []));
  const put = (diagnosis, extra) => {
    const id = `${diagnosis.file} ${diagnosis.function} ${diagnosis.id || diagnosis.says}`;
    if (boxes.has(id)) return;
    boxes.set(id, h("div.tutor", { role: "note", "aria-label": `the judge on ${diagnosis.function}, beside ${title}`, "data-id": diagnosis.id, "data-says": `${diagnosis.function} ${diagnosis.says}` },
      h("p.says", h("code", diagnosis.function), diagnosis.symptoms.length ? ": " : " ", diagnosis.says),
      diagnosis.symptoms.length ? h("ul", diagnosis.symptoms.map((one) => h("li", one))) : null,
      extra ? h("p.elsewhere", extra) : null,
      diagnosis.question ? h("p", diagnosis.question) : null,
      diagnosis.hint ? h("p.fine", "a nudge: ", h("code.command", diagnosis.hint)) : null));
  };
  const later = (diagnosis) => diagnosis.id && rest.set(`${diagnosis.function} ${diagnosis.says}`, diagnosis);
  const called = Object.values(steps).filter((step) => step.state !== "unwritten" && step.state !== "frozen");
  for (const name of new Set(called.map((step) => step.kata))) {
    const verdict = hub.verdicts[name];
    if (!verdict || verdict.judging) continue;
    for (const diagnosis of verdict.diagnoses || []) {
      const steps_ = called.filter((one) => one.function === diagnosis.function);
      const step = steps_.find((one) => one.state !== "yours" || !one.alone) || steps_[0];
      if (!step) later(diagnosis);
      else if (diagnosis.blames.length) {
        if (step.state === "yours" && step.alone) continue;
        const origin = diagnosis.blames.flatMap((blame) => all.filter((one) => one.function === blame && !one.blames.length));
        const visible = origin.filter(drawable);
        visible.forEach((one) => put(one, called.some((each) => each.function === one.function) ? "" : `${diagnosis.function} is off because of it.`));
        if (!origin.length) put(diagnosis);
      } else {
        const how = shows(diagnosis, step, panel);
        // What it is built on comes first.
        if (how) all.filter((one) => diagnosis.also_wrong.includes(one.function) && one.id && drawable(one)).forEach((one) => put(one, called.some((each) => each.function === one.function) ? "" : `${diagnosis.function} is built on it.`));
        if (how) put(diagnosis, how === true ? "" : how);
        else later(diagnosis);
      }
    }
  }
  return { boxes: [...boxes.values()], rest: [...rest.values()] };
}

// What the judge says besides, in one line.
export const quiet = (rest) => (rest.length ? h("p.quiet", "Also judged, and not to be seen here: ", rest.map((diagnosis, i) => [i ? "; " : "", h("code", diagnosis.function), ` ${diagnosis.says}`, diagnosis.hint ? [" (", h("code.command", diagnosis.hint), ")"] : ""]), ".") : null);

export function rowSum(cells) {
  const total = sum(cells);
  const right = Math.abs(total - 1) <= 1e-5;
  return { total: Number.isNaN(total) ? "nan" : total, right, text: Number.isNaN(total) ? "NaN" : text(total, 3) };
}

// One sentence below the bars.
export function verdictLine(step, what = "weights") {
  const { total, right, text: said } = rowSum(step.cells);
  const sums = h("span", { class: !step.mine && step.state !== "frozen" ? "plain" : right ? "ok" : "wrong" }, `Σ = ${said}`);
  if (step.state === "frozen") return h("p.line", sums, ", computed by the reference's formula.");
  if (step.old) return h("p.line", sums, ": your last answer to this question; this save has none.");
  if (!step.mine) return h("p.line", sums, step.lost ? ", drawn by the reference: this save has no answer." : ", drawn by the reference.");
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
