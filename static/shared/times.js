// Relative times: <time datetime="…" data-ago> and <time datetime="…" data-until> are updated in place, by
// <coppice-status> on every page.
import { ago, moment, until } from "./format.js";
import { html, written } from "./html.js";

/** @param {string | null} iso */
export function agoTime(iso) {
  if (!iso) return "–";
  const words = ago(iso, Date.now());
  return html`<time datetime=${iso} data-ago title=${moment(iso)} .textContent=${written(words)}></time>`;
}

/** A moment to come. @param {string} iso */
export function untilTime(iso) {
  const words = until(iso, Date.now());
  return html`<time datetime=${iso} data-until title=${moment(iso)} .textContent=${written(words)}></time>`;
}

/** The beginning of a day in the reader's time zone, as a moment. A text that is no day stays, so that the
 * server can report it. @param {string} day like 2026-11-26 @param {number} [later] so many days later */
export function beginOf(day, later = 0) {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const begin = new Date(year, month - 1, date);
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || begin.getMonth() !== month - 1) return day;
  begin.setDate(date + later);
  return begin.toISOString();
}

/** Updates all relative times below `root`. @param {ParentNode} root */
export function refreshTimes(root) {
  const now = Date.now();
  for (const time of root.querySelectorAll("time[data-ago], time[data-until]")) {
    const iso = time.getAttribute("datetime");
    const text = iso && time.hasAttribute("data-until") ? until(iso, now) : ago(iso, now);
    if (time.textContent !== text) time.textContent = text;
  }
}
