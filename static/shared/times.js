// Relative times: <time datetime="…" data-ago> is updated in place, by <coppice-status> on every page.
import { ago, moment } from "./format.js";
import { html, written } from "./html.js";

/** @param {string | null} iso */
export function agoTime(iso) {
  if (!iso) return "–";
  const words = ago(iso, Date.now());
  return html`<time datetime=${iso} data-ago title=${moment(iso)} .textContent=${written(words)}></time>`;
}

/** Updates all relative times below `root`. @param {ParentNode} root */
export function refreshTimes(root) {
  const now = Date.now();
  for (const time of root.querySelectorAll("time[data-ago]")) {
    const text = ago(time.getAttribute("datetime"), now);
    if (time.textContent !== text) time.textContent = text;
  }
}
