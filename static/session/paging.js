// Reads several pages of a list as one, so that a long list can be read again.
import { unread } from "./rows.js";

/** Reads pages until they cover all shown rows and the new ones among them, and at most a page's length more.
 * Where more is new than one page holds, a list with the newest first is read at its top and then from the
 * first shown row. @param {(after: string, limit: number) => Promise<Api.Page>} fetchPage
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
