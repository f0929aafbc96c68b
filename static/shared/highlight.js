// Marks the words of a search in a snippet.
import { html } from "./html.js";

/** Writing without blanks, in which a word is found anywhere. */
const UNSPACED =
  /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Laoo}\p{scx=Mymr}\p{scx=Khmr}]/u;

/** Splits a snippet into pieces, each with whether it matches a word of the query. Pure. @param {string} text
 * @param {string} query @returns {{ text: string, found: boolean }[]} */
export function highlight(text, query) {
  const words = query.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  if (words.length === 0) return [{ text, found: false }];
  const found = words.map((word) =>
    UNSPACED.test(word) ? word : `(?<![\\p{L}\\p{M}\\p{N}_])${word}[\\p{L}\\p{M}\\p{N}_]*`,
  );
  const pattern = new RegExp(found.join("|"), "giu");
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
