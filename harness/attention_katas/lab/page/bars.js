// Horizontal bars, one for each word: the learner's filled, the reference a thin tick on the same track.

import { h } from "./dom.js";
import { odd, text } from "./numbers.js";

// step: as `drawn` returns it. signed: bars start in the middle, for scores; most: the end of the track.
export function bars(words, step, { signed = false, most = 1, digits = 2, right = step.right, label = "" } = {}) {
  const at = (x) => (signed ? 50 + (50 * Math.max(-1, Math.min(1, x / most))) : 100 * Math.max(0, Math.min(1, x / most)));
  return h("div", { class: `bars ${signed ? "signed" : ""} ${step.old ? "old" : ""} ${step.mine ? "mine" : "theirs"}`, role: "list", "aria-label": label },
    words.map((word, i) => {
      const value = step.cells[i];
      const truth = right[i];
      const strange = odd(value);
      const ends = strange ? [0, 0] : signed ? [50, at(value)].sort((a, b) => a - b) : [0, at(value)];
      const bar = h("span.fill", { class: "fill" });
      Object.assign(bar.style, { left: `${ends[0]}%`, width: `${ends[1] - ends[0]}%` });
      const tick = odd(truth) || step.state === "frozen" ? null : h("span.tick");
      if (tick) tick.style.left = `${at(truth)}%`;
      return h("div", { class: `bar ${strange ? "odd" : ""}`, role: "listitem" },
        h("span.word", word), h("span.track", bar, tick, strange ? h("span.oddly", text(value)) : null), h("span.value", text(value, digits)));
    }));
}
