// Colour arithmetic for the palette's test: OKLCH to linear sRGB, WCAG contrast, distance in OKLab, and how a
// colour looks to someone without one kind of cone. Knows nothing of our tokens.

/** @typedef {[number, number, number]} Triple */

/** OKLCH (lightness 0…1, chroma, hue in degrees) to linear sRGB, clamped to what a screen shows.
 * @param {Triple} lch @returns {Triple} */
export function linear([L, C, h]) {
  const a = C * Math.cos((h * Math.PI) / 180);
  const b = C * Math.sin((h * Math.PI) / 180);
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return clamp([
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]);
}

/** Linear sRGB to OKLab. @param {Triple} rgb @returns {Triple} */
export function oklab([r, g, b]) {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** @param {Triple} rgb @returns {Triple} */
function clamp([r, g, b]) {
  /** @param {number} x */
  const one = (x) => Math.min(1, Math.max(0, x));
  return [one(r), one(g), one(b)];
}

// Machado, Oliveira and Fernandes 2009, severity 1.0, for linear RGB.
/** @type {Record<string, number[][]>} */
const MISSING = {
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

export const VISIONS = ["full", "protan", "deutan", "tritan"];

/** Linear sRGB as one kind of vision sees it. @param {Triple} rgb @param {string} vision
 * @returns {Triple} */
export function seen(rgb, vision) {
  const rows = MISSING[vision];
  if (!rows) return rgb;
  const [r, g, b] = rows.map((row) => row[0] * rgb[0] + row[1] * rgb[1] + row[2] * rgb[2]);
  return clamp([r, g, b]);
}

/** Distance of two OKLCH colours in OKLab under one kind of vision; 0.02 is just visible. @param {Triple} a
 * @param {Triple} b @param {string} vision */
export function apart(a, b, vision) {
  const p = oklab(seen(linear(a), vision));
  const q = oklab(seen(linear(b), vision));
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

/** @param {Triple} lch */
function luminance(lch) {
  const [r, g, b] = linear(lch);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** WCAG contrast of two OKLCH colours, 1…21. @param {Triple} a @param {Triple} b */
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
