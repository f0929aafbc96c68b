// Numbers, percents, times and names in the reader's locale. Pure: no DOM, the clock is an argument. An
// estimate gets a "~".

const THIN = "\u202f";

/** Formats by their options. Making one takes as long as formatting a hundred numbers.
 * @type {Map<string, Intl.NumberFormat>} */
const formats = new Map();

/** @param {Intl.NumberFormatOptions} options */
function formatOf(options) {
  const key = JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.NumberFormat(undefined, options);
  formats.set(key, format);
  return format;
}

/** @param {number} minimumFractionDigits @param {number} maximumFractionDigits */
const decimals = (minimumFractionDigits, maximumFractionDigits) =>
  formatOf({ minimumFractionDigits, maximumFractionDigits });
const [whole, tenth, short] = [decimals(0, 0), decimals(1, 1), decimals(0, 1)];

/** A whole number, thousands grouped. @param {number} value */
export const number = (value) => whole.format(value);

/** A number with at most `digits` decimals. @param {number} value @param {number} [digits] */
export const decimal = (value, digits = 1) => decimals(0, digits).format(value);

/** A number with exactly `digits` decimals, for a column. @param {number} value @param {number} digits */
export const fixed = (value, digits) => decimals(digits, digits).format(value);

/** A measured percent, with one decimal. @param {number} value */
export const percent = (value) => `${tenth.format(value)}${THIN}%`;

/** A percent that was set, with a decimal only if it has one. @param {number} value */
export const percentSet = (value) => `${short.format(value)}${THIN}%`;

/** 9,804 as "9.8k", 1,200,000 as "1.2M". @param {number} value @returns {string} */
export function compact(value) {
  if (value < 0) return `−${compact(-value)}`;
  if (value < 1000) return whole.format(value);
  if (value < 99_950) return `${short.format(Math.round(value / 100) / 10)}k`;
  if (value < 999_500) return `${whole.format(value / 1000)}k`;
  return `${short.format(Math.round(value / 100_000) / 10)}M`;
}

/** 0 is exact. @param {number} value @param {string} [certainty] */
const isRough = (value, certainty) => certainty === "estimated" && value !== 0;

/** Tokens, with "~" before an estimate. @param {number} value @param {string} [certainty] */
export function tokens(value, certainty) {
  return (isRough(value, certainty) ? "~" : "") + whole.format(value);
}

/** An addition, short: "+4.1k", and "+~4.1k" for an estimate. @param {number} value
 * @param {string} [certainty] */
export function gain(value, certainty) {
  const sign = value > 0 ? "+" : value < 0 ? "−" : "";
  return `${sign}${isRough(value, certainty) ? "~" : ""}${compact(Math.abs(value))}`;
}

/** Bytes in decimal units: 62,700,000 as "62.7 MB". @param {number} bytes */
export function size(bytes) {
  if (bytes <= 999_000) return `${whole.format(Math.ceil(bytes / 1000))} kB`;
  return bytes < 999_950_000 ? `${tenth.format(bytes / 1e6)} MB` : `${tenth.format(bytes / 1e9)} GB`;
}

/** A number rounded to two leading digits, for "about …". @param {number} value */
export function about(value) {
  if (value < 100) return whole.format(value);
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return whole.format(Math.round(value / unit) * unit);
}

/** "1 message", "2 messages". @param {number} count @param {string} noun @param {string} [plural] */
export function counted(count, noun, plural = `${noun}s`) {
  return `${whole.format(count)} ${count === 1 ? noun : plural}`;
}

/** @type {[number, Intl.RelativeTimeFormatUnit][]} */
const STEPS = [
  [86_400 * 365, "year"],
  [86_400 * 30, "month"],
  [86_400 * 7, "week"],
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
];
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "always", style: "narrow" });

/** The time since a moment, in one unit: "now", "5 min ago". @param {string | null} iso
 * @param {number} now milliseconds */
export function ago(iso, now) {
  const seconds = Math.round((now - Date.parse(iso ?? "")) / 1000);
  if (!Number.isFinite(seconds)) return "–";
  for (const [size, unit] of STEPS)
    if (seconds >= size) return relative.format(-Math.floor(seconds / size), unit);
  return seconds < 5 ? "now" : relative.format(-seconds, "second");
}

/** The time until a moment, in one unit: "in 5 min", "now". @param {string} iso @param {number} now
 * milliseconds */
export function until(iso, now) {
  const seconds = Math.ceil((Date.parse(iso) - now) / 1000);
  for (const [size, unit] of STEPS)
    if (seconds > size) return relative.format(Math.ceil(seconds / size), unit);
  return seconds > 0 ? relative.format(seconds, "second") : "now";
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
/** @type {Intl.DateTimeFormatOptions} */
const MINUTES = { hour: "numeric", minute: "2-digit" };
const today = new Intl.DateTimeFormat(undefined, MINUTES);
/** @type {Intl.DateTimeFormatOptions} */
const DAY = { month: "short", day: "numeric", ...MINUTES };
const otherDay = new Intl.DateTimeFormat(undefined, DAY);
const otherYear = new Intl.DateTimeFormat(undefined, { year: "numeric", ...DAY });

/** Date and time in full. @param {string | null} iso */
export function moment(iso) {
  const ms = Date.parse(iso ?? "");
  return Number.isFinite(ms) ? dateTime.format(ms) : "";
}

/** The time of day, with the date unless it is today, and with its year unless that is this one.
 * @param {string | null} iso @param {number} now */
export function timeOfDay(iso, now) {
  const ms = Date.parse(iso ?? "");
  if (!Number.isFinite(ms)) return "";
  const [then, here] = [new Date(ms), new Date(now)];
  if (then.toDateString() === here.toDateString()) return today.format(ms);
  return (then.getFullYear() === here.getFullYear() ? otherDay : otherYear).format(ms);
}

/** The least amount of money that is written out. */
const LEAST = 0.0001;

/** Money, with up to four decimals for small amounts, and "~" if its tokens are estimated. What would be
 * rounded to nothing is less than the least amount.
 * @param {number} value @param {string} currency @param {string} [certainty] of the tokens that it pays */
export function money(value, currency, certainty) {
  const maximumFractionDigits = Math.abs(value) >= 1 ? 2 : Math.abs(value) >= 0.01 ? 3 : 4;
  const format = { style: /** @type {const} */ ("currency"), currency, maximumFractionDigits };
  if (value > 0 && value < LEAST / 2) return `<${formatOf(format).format(LEAST)}`;
  return (isRough(value, certainty) ? "~" : "") + formatOf(format).format(value);
}

/** A text as a sentence: a capital first, a full stop last. @param {string | null | undefined} text */
export function sentence(text) {
  if (!text) return "";
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

/** The last part of a path. @param {string | null} path */
export function fileName(path) {
  return path ? (path.split(/[\\/]/).pop() ?? path) : "";
}

/** Control codes of terminals, which mean nothing in a line of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const CODES = /\x1b\[[0-9;?]*[a-zA-Z]|[\x00-\x08\x0e-\x1f\x7f]/g;

/** A text in one line, without control codes. @param {string} text */
export const inOneLine = (text) => text.replace(CODES, "").replace(/\s+/g, " ").trim();

/** Control characters except tabs and line ends, and those that turn the direction of what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to show
const UNSEEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202d\u202e]/g;

/** A text as it is, with pictures of its control characters: no font has them, and they count as tokens.
 * @param {string} text */
export const withPictures = (text) =>
  text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
