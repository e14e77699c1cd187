// The formulas of the reference, for a page without `kata lab`. It sends the same answers as the
// server, computed from the vectors in the exported file, and marks every number as the reference's.

const dot = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);
const scores = (q, k, by = 1) => q.map((row) => k.map((key) => dot(row, key) / by));
const times = (w, v) => w.map((row) => v[0].map((_, d) => row.reduce((total, x, j) => total + x * v[j][d], 0)));

export function softmax(row) {
  const top = Math.max(...row);
  const powers = row.map((x) => Math.exp(x - top));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((x) => x / total);
}

export const weights = (rows, causal) => rows.map((row, i) => softmax(causal ? row.map((x, j) => (j > i ? -Infinity : x)) : row));

// Sixteen bits as a number: sign, five bits of exponent, ten of fraction.
export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const power = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (power === 31) return fraction ? NaN : sign * Infinity;
  return sign * (power ? 2 ** (power - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

function unpack(part) {
  if (Array.isArray(part)) return part;
  const bytes = Uint8Array.from(atob(part.f16), (one) => one.charCodeAt(0));
  const numbers = Array.from({ length: bytes.length / 2 }, (_, i) => half(bytes[2 * i] | (bytes[2 * i + 1] << 8)));
  return Array.from({ length: numbers.length / part.width }, (_, i) => numbers.slice(i * part.width, (i + 1) * part.width));
}

const FILES = { attention_scores: "dot_product.py", scaled_scores: "scale.py", softmax: "softmax.py", causal_mask: "mask.py",
  masked_weights: "mask.py", scaled_dot_product_attention: "mask.py", multi_head_attention: "multihead.py", cross_attention: "cross_attention.py" };
const step = (name, right) => ({ function: name, file: `reference/${FILES[name]}`, kata: FILES[name].slice(0, -3).replace("_", "-"), state: "frozen", right });

function figures(raw, w) {
  const mean = raw.reduce((a, b) => a + b, 0) / raw.length;
  const largest = Math.max(...w);
  const best = w.indexOf(largest);
  return {
    spread: Math.sqrt(raw.reduce((a, x) => a + (x - mean) ** 2, 0) / raw.length),
    entropy: -w.reduce((a, x) => a + (x > 0 ? x * Math.log(x) : 0), 0),
    largest,
    gradient: Math.hypot(...w.map((x, j) => largest * ((j === best ? 1 : 0) - x))),
  };
}

function lookup({ scene }, ask) {
  const times_ = ask.d_k / 2;
  const size = times_ ** -0.25;
  const wide = ([x, y]) => Array.from({ length: times_ }, () => [x * size, y * size]).flat();
  const raw = scores([wide(ask.query)], scene.lookup.keys.map(wide), ask.divide ? Math.sqrt(ask.d_k) : 1)[0];
  const hot = raw.map((x) => x / ask.temperature);
  const w = softmax(hot);
  return {
    scores: step(ask.divide ? "scaled_scores" : "attention_scores", raw),
    weights: step("softmax", w),
    blend: step("scaled_dot_product_attention", times([w], ask.values)[0]),
    figures: { yours: null, right: figures(raw, w) },
  };
}

function headOf({ scene, frozen }, ask) {
  const vectors = frozen.heads[`${ask.head} ${ask.sentence}`];
  const [q, k, v] = ["q", "k", "v"].map((part) => unpack(vectors[part]));
  const texts = scene.sentences[ask.sentence];
  return { q, k, v, root: Math.sqrt(q[0].length), tokens: ask.head.length > 1 ? texts.tokens : texts.words };
}

const mask = (tokens) => tokens.map((_, i) => tokens.map((__, j) => (j <= i ? 1 : 0)));

function sentence(data, ask) {
  const head = headOf(data, ask);
  const rows = scores(head.q, head.k, ask.divide === false ? 1 : head.root);
  return {
    tokens: head.tokens,
    scores: step(ask.divide === false ? "attention_scores" : "scaled_scores", rows),
    weights: step(ask.causal ? "masked_weights" : "softmax", weights(rows, ask.causal)),
    ...(ask.causal ? { mask: step("causal_mask", mask(head.tokens)) } : {}),
  };
}

function steps(data, ask) {
  const head = headOf(data, ask);
  const scaled = scores(head.q, head.k, head.root);
  const w = weights(scaled, ask.causal);
  return {
    tokens: head.tokens,
    score: step("attention_scores", scores(head.q, head.k)[ask.row]),
    scale: step("scaled_scores", scaled[ask.row]),
    softmax: step(ask.causal ? "masked_weights" : "softmax", w[ask.row]),
    blend: step("scaled_dot_product_attention", times(w, head.v)[ask.row]),
    ...(ask.causal ? { mask: step("causal_mask", mask(head.tokens)[ask.row]) } : {}),
  };
}

function layer(x, context, w, count) {
  const project = (rows, name) => rows.map((row) => w[`w_${name}`].map((line, i) => dot(line, row) + w[`b_${name}`][i]));
  const [q, k, v] = [project(x, "q"), project(context, "k"), project(context, "v")];
  const size = q[0].length / count;
  const cut = (rows, h) => rows.map((row) => row.slice(h * size, (h + 1) * size));
  const heads = Array.from({ length: count }, (_, h) => times(weights(scores(cut(q, h), cut(k, h), Math.sqrt(size))), cut(v, h)));
  const merged = x.map((_, i) => heads.flatMap((one) => one[i]));
  return project(merged, "o");
}

function wiring({ scene, frozen }) {
  const { x, context, own, cross } = frozen.wiring;
  const byHead = (rows, keys) => [0, 1].map((h) => rows.map((row) => row.slice(8 * h, 8 * h + keys)));
  return {
    self: step("multi_head_attention", byHead(layer(x, x, own, 2), scene.wiring.target.length)),
    cross: step("cross_attention", byHead(layer(x, context, cross, 2), scene.wiring.source.length)),
  };
}

// Times of the reference, measured when the file was written.
const width = ({ frozen }) => frozen.width;
const cost = ({ frozen }, ask) => frozen.cost.find((point) => point.heads === ask.heads && point.n === ask.n) || { unclear: "this was not measured" };

export const PANELS = { lookup, width, sentence, steps, wiring, cost };

export function frozenModel(data) {
  const acts = [];
  const tell = (message) => acts.forEach((act) => act(message));
  return {
    open: () => tell({ event: "hello", generation: 0, frozen: true, scene: data.scene, katas: [], verdicts: [] }),
    on: (_, act) => acts.push(act),
    send: ({ panel, id, ask }) => queueMicrotask(() => tell({ event: "answer", panel, id, ...PANELS[panel](data, ask) })),
  };
}
