// Numbers, percents, times and names as readers see them. Pure: no DOM, the clock is an argument.
// Token counts are never shown with more digits than are true: an estimate carries "~".

const THIN = "\u202f";

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const short = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** A whole number, thousands grouped. @param {number} value */
export function number(value) {
  return whole.format(value);
}

/** A number with at most `digits` decimals. @param {number} value @param {number} [digits] */
export function decimal(value, digits = 1) {
  return new Intl.NumberFormat(undefined, { maximumFractionDigits: digits }).format(value);
}

/** A number with just so many decimals, for a column of them. @param {number} value @param {number} digits */
export function fixed(value, digits) {
  return new Intl.NumberFormat(undefined, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
}

/** Percent with one decimal; a whole number where the value is a setting. @param {number} value */
export function percent(value) {
  return `${tenth.format(value)}${THIN}%`;
}

/** A percent that someone set, without a needless decimal. @param {number} value */
export function percentSet(value) {
  return `${short.format(value)}${THIN}%`;
}

/** 9,804 as "9.8k", 1,200,000 as "1.2M". @param {number} value @returns {string} */
export function compact(value) {
  if (value < 0) return `−${compact(-value)}`;
  const size = value;
  if (size < 1000) return whole.format(value);
  if (size < 99_950) return `${short.format(Math.round(value / 100) / 10)}k`;
  if (size < 999_500) return `${whole.format(value / 1000)}k`;
  return `${short.format(Math.round(value / 100_000) / 10)}M`;
}

/** Tokens of a known certainty; nothing is nothing for certain. @param {number} value @param {string} [certainty] */
export function tokens(value, certainty) {
  return (certainty === "estimated" && value !== 0 ? "~" : "") + whole.format(value);
}

/** Bytes as files are told: 62,700,000 as "62.7 MB". @param {number} bytes */
export function size(bytes) {
  if (bytes < 1_000_000) return `${whole.format(Math.ceil(bytes / 1000))} kB`;
  return bytes < 1_000_000_000 ? `${tenth.format(bytes / 1e6)} MB` : `${tenth.format(bytes / 1e9)} GB`;
}

/** A figure rounded to two leading digits, for sentences that say "about". @param {number} value */
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

/** How long ago, in one unit: "now", "5 min ago". @param {string | null} iso @param {number} now milliseconds */
export function ago(iso, now) {
  if (!iso) return "–";
  const seconds = Math.round((now - Date.parse(iso)) / 1000);
  if (!Number.isFinite(seconds)) return "–";
  for (const [size, unit] of STEPS)
    if (seconds >= size) return relative.format(-Math.floor(seconds / size), unit);
  return seconds < 5 ? "now" : relative.format(-seconds, "second");
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayClock = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});

/** Date and time in full. @param {string | null} iso */
export function moment(iso) {
  const ms = iso ? Date.parse(iso) : Number.NaN;
  return Number.isFinite(ms) ? dateTime.format(ms) : "";
}

/** The time of day, with the date where it is not today's. @param {string | null} iso @param {number} now */
export function timeOfDay(iso, now) {
  const ms = iso ? Date.parse(iso) : Number.NaN;
  if (!Number.isFinite(ms)) return "";
  return new Date(ms).toDateString() === new Date(now).toDateString()
    ? clock.format(ms)
    : dayClock.format(ms);
}

/** Money with as many decimals as it needs to be more than nothing. @param {number} value @param {string} currency */
export function money(value, currency) {
  const digits = Math.abs(value) >= 1 ? 2 : Math.abs(value) >= 0.01 ? 3 : 4;
  return new Intl.NumberFormat(undefined, {
    style: "currency",
    currency,
    maximumFractionDigits: digits,
  }).format(value);
}

/** A remark of the server as a sentence: capital first, full stop last. @param {string | null | undefined} text */
export function sentence(text) {
  if (!text) return "";
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

/** The last part of a path. @param {string | null} path */
export function fileName(path) {
  return path ? (path.split(/[\\/]/).pop() ?? path) : "";
}
