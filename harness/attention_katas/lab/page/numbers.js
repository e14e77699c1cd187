// Numbers as text and as colour.

export const odd = (x) => typeof x === "string";

export function text(x, digits = 2) {
  if (x === "nan") return "NaN";
  if (x === "inf") return "∞";
  if (x === "-inf") return "−∞";
  if (x == null) return "–";
  if (x !== 0 && Math.abs(x) >= 1000) return x.toExponential(1).replace("-", "−").replace("e+", "e");
  return x.toFixed(digits).replace("-", "−").replace(/^(−?)0\.0*$/, (all) => all.replace("−", ""));
}

// A weight in two or three characters: .68, 1, 0.
export function short(x) {
  if (odd(x)) return text(x);
  if (x === 0) return "0";
  const digits = x.toFixed(2);
  return digits === "1.00" ? "1.0" : digits.replace("0.", ".").replace("-", "−");
}

export const sum = (row) => row.reduce((total, x) => (odd(x) ? NaN : total + x), 0);
export const flat = (cells) => (Array.isArray(cells) ? cells.flatMap(flat) : [cells]);
export const largest = (cells) => Math.max(1e-9, ...flat(cells).map((x) => (odd(x) || x == null ? 0 : Math.abs(x))));

// Colours are mixed from those of the theme: 0 is paper, 1 is ink.
// tests/test_lab_page.py computes the contrast of every pair that is used here.
export const THEMES = {
  light: { paper: [255, 255, 255], ink: [8, 48, 107], warm: [127, 59, 8], grey: [52, 58, 66], gap: [122, 22, 16], text: [0, 0, 0], over: [255, 255, 255] },
  dark: { paper: [22, 26, 33], ink: [158, 208, 255], warm: [255, 176, 92], grey: [205, 211, 219], gap: [255, 157, 148], text: [255, 255, 255], over: [0, 0, 0] },
};

const darkScheme = matchMedia("(prefers-color-scheme: dark)");
// The element with data-theme, once the user has chosen a theme.
export const surface = { el: document.documentElement };
export const theme = () => surface.el.dataset.theme || (darkScheme.matches ? "dark" : "light");
export const onTheme = (act) => darkScheme.addEventListener("change", act);

const mix = (from, to, t) => from.map((x, i) => Math.round(x + (to[i] - x) * t));
const css = (rgb) => `rgb(${rgb.join(", ")})`;

function luminance(rgb) {
  const [r, g, b] = rgb.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

// Only the learner's numbers are blue. The reference is grey, and orange on the exported page.
function inks(kind) {
  if (kind === "gap") return ["gap", "gap"];
  if (kind === "mine") return ["ink", "warm"];
  return surface.el.classList.contains("frozen") ? ["warm", "grey"] : ["grey", "warm"];
}

// The colour of a cell for t in -1 .. 1, and the colour of text on it. kind: "mine",
// "theirs", or "gap" for a difference.
export function shade(t, name = theme(), kind = "mine") {
  const colours = THEMES[name];
  const [above, below] = inks(kind);
  const cell = mix(colours.paper, colours[t < 0 ? below : above], Math.min(Math.abs(t), 1));
  const better = contrast(cell, colours.text) >= contrast(cell, colours.over) ? colours.text : colours.over;
  return { fill: css(cell), text: css(better), ratio: contrast(cell, better) };
}
