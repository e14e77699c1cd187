// A plane with handles that can be dragged with a mouse, a finger or the arrow keys, or placed by a
// click.

import { s, fill } from "./dom.js";
import { text } from "./numbers.js";

const EDGE = 3;
const SIZE = 400;
const UNIT = SIZE / (2 * EDGE + 0.7);
export const px = (x) => SIZE / 2 + x * UNIT;
export const py = (y) => SIZE / 2 - y * UNIT;
const clip = (x) => Math.min(EDGE, Math.max(-EDGE, Math.round(x * 100) / 100));

// handles: [{id, label, at: [x, y], mark: () => SVG elements around 0,0}]; a click places
// the first. moved(id, [x, y]) is called at every move.
export function plane({ label, handles, moved }) {
  const back = s("g.grid", { "aria-hidden": "true" });
  for (let i = -EDGE; i <= EDGE; i += 1) {
    back.append(s("path", { d: `M${px(i)} ${py(-EDGE)}V${py(EDGE)}M${px(-EDGE)} ${py(i)}H${px(EDGE)}`, class: i ? "" : "axis" }));
  }
  const scene = s("g.scene");
  const tops = s("g.tops");
  const svg = s("svg.plane", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": label }, back, scene, tops);
  const marks = new Map();
  for (const handle of handles) {
    const mark = s("g.handle", { tabindex: 0, role: "slider", "aria-label": handle.label, "aria-roledescription": "handle in the plane",
      "aria-valuemin": -EDGE, "aria-valuemax": EDGE, "data-handle": handle.id },
      s("circle.reach", { r: 26 }), handle.mark());
    mark.addEventListener("keydown", (event) => key(event, handle));
    marks.set(handle.id, mark);
    tops.append(mark);
  }
  const place = (handle, at) => {
    handle.at = at;
    const mark = marks.get(handle.id);
    mark.setAttribute("transform", `translate(${px(at[0])} ${py(at[1])})`);
    mark.setAttribute("aria-valuenow", at[0]);
    mark.setAttribute("aria-valuetext", `x ${text(at[0], 1)}, y ${text(at[1], 1)}`);
  };
  handles.forEach((handle) => place(handle, handle.at));
  const move = (handle, at) => {
    if (!at.every(Number.isFinite)) return;
    place(handle, [clip(at[0]), clip(at[1])]);
    moved(handle.id, handle.at);
  };
  function key(event, handle) {
    const step = event.shiftKey ? 0.5 : 0.1;
    const [x, y] = handle.at;
    const to = { ArrowLeft: [x - step, y], ArrowRight: [x + step, y], ArrowUp: [x, y + step], ArrowDown: [x, y - step], Home: [0, 0] }[event.key];
    if (!to) return;
    event.preventDefault();
    move(handle, to);
  }
  const where = (event) => {
    const box = svg.getBoundingClientRect();
    return [(((event.clientX - box.left) / box.width) * SIZE - SIZE / 2) / UNIT, (SIZE / 2 - ((event.clientY - box.top) / box.height) * SIZE) / UNIT];
  };
  let active = null;
  let grip = [0, 0];
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const id = event.target.closest("[data-handle]")?.dataset.handle;
    active = handles.find((one) => one.id === id) || handles[0];
    const at = where(event);
    grip = id ? [active.at[0] - at[0], active.at[1] - at[1]] : [0, 0];
    svg.setPointerCapture(event.pointerId);
    svg.classList.add("holding");
    marks.get(active.id).focus({ preventScroll: true });
    if (!id) move(active, at);
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    if (!active) return;
    const at = where(event);
    move(active, [at[0] + grip[0], at[1] + grip[1]]);
  });
  const drop = () => ((active = null), svg.classList.remove("holding"));
  svg.addEventListener("pointerup", drop);
  svg.addEventListener("pointercancel", drop);
  return {
    svg,
    draw: (...what) => fill(scene, ...what),
    place: (id, at) => place(handles.find((one) => one.id === id), at),
  };
}

// A straight arrow; `shorten` leaves room for a mark at its tip.
export function arrow(from, to, kind, { width = 2, shorten = 0, head = 9 } = {}) {
  const [x0, y0, x1, y1] = [px(from[0]), py(from[1]), px(to[0]), py(to[1])];
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < shorten + head) return s("g");
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const [tx, ty] = [x1 - ux * shorten, y1 - uy * shorten];
  const [bx, by] = [tx - ux * head, ty - uy * head];
  const side = head * 0.5;
  return s("g", { class: `arrow ${kind}` },
    s("path.shaft", { d: `M${x0} ${y0}L${bx} ${by}`, "stroke-width": width }),
    s("path.tip", { d: `M${tx} ${ty}L${bx - uy * side} ${by + ux * side}L${bx + uy * side} ${by - ux * side}Z` }));
}

export const line = (from, to, kind, width) => s("path", { class: `link ${kind}`, d: `M${px(from[0])} ${py(from[1])}L${px(to[0])} ${py(to[1])}`, "stroke-width": width });
