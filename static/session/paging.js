// Several pages of a list read as one, so that a list longer than a page can be read again. `fetchPage` does
// the reading.
import { unread } from "./rows.js";

/** Reads until one page covers all rows that are shown and the new ones among them. Where more is new than
 * one page holds, of a list that begins with the newest it reads the newest and then goes on from the first
 * row that is shown. It gives up a page's length beyond.
 * @param {(after: string, limit: number) => Promise<Api.Page>} fetchPage
 * @param {Api.Page} page the first of them @param {Api.Message[]} shown @param {string} sort
 * @param {number} most rows of a page @returns {Promise<Api.Page>} */
export async function pageOver(fetchPage, page, shown, sort, most) {
  const all = new Map(page.messages.map((m) => [m.id, m]));
  let { next } = page;
  while (next !== null && all.size < shown.length + most) {
    const left = unread(shown, [...all.values()]);
    if (left === 0) break;
    const first = shown[0]?.number ?? 0;
    if (sort === "newest" && Number(next) > first) next = String(first + 1);
    const more = await fetchPage(next, Math.min(most, left));
    for (const message of more.messages) all.set(message.id, message);
    next = more.next;
  }
  return { ...page, messages: [...all.values()], next };
}
