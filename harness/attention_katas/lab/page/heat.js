// A matrix as a heat map: rows are queries, columns are keys.
//
// Three kinds of cells must look different: a weight of zero (paper, with a small 0), a masked key
// (hatched), and NaN (a solid frame with the word in it).

import { h, s, unique } from "./dom.js";
import { odd, shade, short, text, theme } from "./numbers.js";
import { rowSum } from "./notes.js";

// cells: rows of numbers; masked(i, j): whether it is masked. most: the value of full ink, always 1
// for weights. sums: a column with the sum of each row. at: the row and column of the cross-hair.
export function heat({ title, cells, rows, columns, masked = () => false, most = 1, sums = true, kind = "mine", at = null, old = false, move, room = 1000, label: write, here = () => at || [0, 0] }) {
  const count = columns.length;
  const left = 8 + Math.max(...rows.map((word) => word.length)) * 7.2;
  const size = Math.max(15, Math.min(count > 13 ? 25 : 30, Math.floor((room - left - 58) / count)));
  const numbers = size >= 24;
  const top = 12 + Math.max(...columns.map((word) => word.length)) * 5.4;
  const width = left + count * size + 58;
  const narrow = width < 370;
  const height = top + rows.length * size + (narrow ? 36 : 22);
  const hatch = unique("hatch");
  const svg = s("svg.heat", { viewBox: `0 0 ${width} ${height}`, width, height, class: `heat ${kind} ${old ? "old" : ""}`, tabindex: 0, role: "application",
    "aria-roledescription": "heat map", "aria-label": `${title}: rows are queries, columns are keys. Arrow keys move from cell to cell.` });
  svg.append(s("defs", s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    s("rect.hatchback", { width: 6, height: 6 }), s("path.hatch", { d: "M0 0V6", "stroke-width": 2.2 }))));
  columns.forEach((word, j) => {
    const x = left + (j + 0.5) * size;
    svg.append(s("text", { class: `column ${at && at[1] === j ? "here" : ""}`, transform: `translate(${x + 3} ${top - 6}) rotate(-48)` }, word));
  });
  rows.forEach((word, i) => {
    const y = top + (i + 0.5) * size;
    svg.append(s("text", { class: `row ${at && at[0] === i ? "here" : ""}`, x: left - 7, y: y + 4, "text-anchor": "end" }, word));
    cells[i].forEach((value, j) => {
      const x = left + j * size;
      const hidden = masked(i, j);
      const lost = value === "nan" || value === "inf" || (value === "-inf" && !hidden);
      const tint = odd(value) || hidden ? null : shade(value / most, theme(), kind);
      const over = !odd(value) && !hidden && sums && (value > 1 + 1e-6 || value < -1e-6);
      const cell = s("rect", { x: x + 0.5, y: top + i * size + 0.5, width: size - 1, height: size - 1, rx: 2,
        class: `cell ${hidden ? "hidden" : lost ? "lost" : over ? "over" : ""}` });
      if (tint) cell.style.fill = tint.fill;
      if (hidden) cell.style.fill = `url(#${hatch})`;
      cell.dataset.cell = `${i} ${j}`;
      svg.append(cell);
      const label = lost ? text(value) : hidden ? (value !== 0 && value !== "-inf" ? short(value) : "") : value === 0 ? "0" : numbers ? (write || (most === 1 ? short : (x) => text(x, 1)))(value) : "";
      if (label) {
        const written = s("text", { class: `in ${lost ? "lost" : value === 0 ? "zero" : ""} ${hidden ? "leak" : ""}`, x: x + size / 2, y: y + 3.5, "text-anchor": "middle" }, label);
        if (tint && value !== 0) written.style.fill = tint.text;
        svg.append(written);
      }
    });
    if (sums) {
      const total = rowSum(cells[i]);
      svg.append(s("text", { class: `sum ${total.right ? "" : "wrong"}`, x: left + count * size + 10, y: y + 4 }, total.text));
      if (!total.right) svg.append(s("rect.sumframe", { x: left + count * size + 4, y: y - 10, width: 50, height: 20, rx: 3 }));
    }
  });
  if (sums) svg.append(s("text.axis", { x: left + count * size + 10, y: top - 6 }, "sum"));
  const axes = ["rows: queries", "columns: keys"];
  (narrow ? axes : [axes.join(" · ")]).forEach((line, i, all) => svg.append(s("text.axis", { x: left, y: height - 5 - 14 * (all.length - 1 - i) }, line)));
  if (at) {
    svg.append(s("rect.cross", { x: left, y: top + at[0] * size, width: count * size, height: size, rx: 3 }),
      s("rect.cross", { x: left + at[1] * size, y: top, width: size, height: rows.length * size, rx: 3 }));
  }
  const find = (event) => event.target.dataset?.cell?.split(" ").map(Number);
  svg.addEventListener("pointermove", (event) => {
    const cell = find(event);
    if (cell && event.pointerType === "mouse") move?.(cell, "hover");
  });
  svg.addEventListener("click", (event) => {
    const cell = find(event);
    if (cell) move?.(cell, "click");
  });
  svg.addEventListener("keydown", (event) => {
    const [i, j] = here();
    const to = { ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1], ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], Home: [i, 0], End: [i, count - 1] }[event.key];
    if (!to) return;
    event.preventDefault();
    const clamp = (x, n) => Math.min(n - 1, Math.max(0, x));
    move?.([clamp(to[0], rows.length), clamp(to[1], count)], "key");
  });
  return h("figure", { class: `matrix ${kind}` }, h("figcaption", title), h("div.scroll", svg));
}

// A legend with the values at the ends of the scale, drawn with the scale itself.
export function legend(most, signed, kind = "mine", { masked: withMask = true, lost: withLost = false, over = false } = {}) {
  const steps = 24;
  const low = signed ? -1 : 0;
  const ramp = s("svg.ramp", { viewBox: `0 0 ${steps * 6} 12`, width: steps * 6, height: 12, "aria-hidden": "true" });
  for (let i = 0; i < steps; i += 1) {
    const part = s("rect", { x: i * 6, y: 0, width: 6.2, height: 12 });
    part.style.fill = shade(low + ((1 - low) * (i + 0.5)) / steps, theme(), kind).fill;
    ramp.append(part);
  }
  const sample = (kind, inner) => s("svg.sample", { viewBox: "0 0 18 18", width: 18, height: 18, "aria-hidden": "true" }, inner, s("rect", { class: `cell ${kind}`, x: 1, y: 1, width: 16, height: 16, rx: 2 }));
  const hatched = unique("hatch");
  const pattern = s("defs", s("pattern", { id: hatched, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect.hatchback", { width: 6, height: 6 }), s("path.hatch", { d: "M0 0V6", "stroke-width": 2.2 })));
  const masked = sample("hidden", pattern);
  masked.lastChild.style.fill = `url(#${hatched})`;
  const lost = sample("lost", null);
  const end = signed ? text(most, 1) : most === 1 ? "1" : text(most, most < 0.01 ? 5 : 2);
  return h("div.scale",
    h("span.ends", h("span", signed ? text(-most, 1) : "0"), ramp, h("span", end)),
    withMask ? h("span.kind", masked, signed ? "masked, −∞" : "masked") : null,
    withLost ? h("span.kind", lost, "NaN") : null,
    over ? h("span.kind", sample("over", null), "below 0 or above 1") : null);
}
