// Marks the words of a search in a snippet. Words are the index's: letters and digits, not "_".
import { html } from "./html.js";

/** The scripts that write no spaces between words, so that a word may stand anywhere. */
const UNSPACED = ["Han", "Hira", "Kana", "Hang", "Thai", "Laoo", "Mymr", "Khmr"]
  .map((script) => `\\p{scx=${script}}`)
  .join("");

/** Splits a snippet into pieces, each with whether it matches a word of the query. Pure. @param {string} text
 * @param {string} query @returns {{ text: string, found: boolean }[]} */
export function highlight(text, query) {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return [{ text, found: false }];
  const begin = `(?:(?<![\\p{L}\\p{N}])|(?=[${UNSPACED}]))`;
  const rest = `(?:(?![${UNSPACED}])[\\p{L}\\p{N}])*`;
  const pattern = new RegExp(`${begin}(?:${words.join("|")})${rest}`, "giu");
  const pieces = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), found: false });
    pieces.push({ text: match[0], found: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), found: false });
  return pieces;
}

/** @param {string} text @param {string} query */
export const marked = (text, query) =>
  highlight(text, query).map((piece) => (piece.found ? html`<mark>${piece.text}</mark>` : piece.text));
