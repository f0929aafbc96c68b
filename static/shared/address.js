// The choices of a page (filter, panel, opened rows) in its address, so that a reload or a shared link keeps
// them. A choice made at once, as by a click, is a step that Back undoes; what is typed or slid replaces the
// address in place. Choices at their default are left out. All but `write` and `step` are pure.

/** `write` or `step`.
 * @typedef {(values: Record<string, string>, defaults: Record<string, string>) => void} Keep */

/** The most numbers that are read from one parameter of an address. */
const MOST_NUMBERS = 1_000;

/** The choices in an address; those it lacks have their default. @template {Record<string, string>} T
 * @param {string} search the query part of an address @param {T} defaults @returns {T} */
export function read(search, defaults) {
  const query = new URLSearchParams(search);
  const found = Object.keys(defaults).map((name) => [name, query.get(name) ?? defaults[name]]);
  return Object.fromEntries(found);
}

/** The query part of the address with these choices; other parameters stay. @param {string} search
 * @param {Record<string, string>} values @param {Record<string, string>} defaults */
export function written(search, values, defaults) {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values))
    if (value === defaults[name]) query.delete(name);
    else query.set(name, value);
  const text = query.toString();
  return text ? `?${text}` : "";
}

/** Names in the form "a,b": commas within them are encoded. @param {Iterable<string>} names */
export const namesText = (names) => [...names].map(encodeURIComponent).join(",");

/** The names in such a text; those that cannot be decoded are left out. @param {string} text */
export function namesIn(text) {
  /** @type {Set<string>} */
  const names = new Set();
  for (const name of text.split(",").filter(Boolean))
    try {
      names.add(decodeURIComponent(name));
    } catch {
      // An address that somebody wrote by hand.
    }
  return names;
}

/** Numbers in the form "5-9,12". @param {number[]} numbers */
export function numbersText(numbers) {
  return runs(numbers)
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
    .join(",");
}

/** The numbers in a text such as "5-9,12", in order; anything else is left out, and so are those after the
 * first thousand. @param {string} text */
export function numbersIn(text) {
  /** @type {Set<number>} */
  const numbers = new Set();
  for (const [, first, last] of text.matchAll(/(?<=^|,)([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?(?=,|$)/g))
    for (let n = Number(first); n <= Number(last ?? first) && numbers.size < MOST_NUMBERS; n++)
      numbers.add(n);
  return [...numbers].sort((a, b) => a - b);
}

/** The runs of consecutive numbers. @param {number[]} numbers @returns {[first: number, last: number][]} */
export function runs(numbers) {
  /** @type {[number, number][]} */
  const found = [];
  for (const n of [...numbers].sort((a, b) => a - b)) {
    const run = found.at(-1);
    if (run && n <= run[1] + 1) run[1] = n;
    else found.push([n, n]);
  }
  return found;
}

/** Writes what is typed or slid, or follows from another choice, in place.
 * @param {Record<string, string>} values @param {Record<string, string>} defaults */
export function write(values, defaults) {
  const place = placeWith(values, defaults);
  if (place !== null) history.replaceState(history.state, "", place);
}

/** Writes a choice as a step that Back undoes. The element that reads the choice listens to `popstate`.
 * @param {Record<string, string>} values @param {Record<string, string>} defaults */
export function step(values, defaults) {
  const place = placeWith(values, defaults);
  if (place !== null) history.pushState(null, "", place);
}

/** The page's address with these choices; null where it has them. @param {Record<string, string>} values
 * @param {Record<string, string>} defaults */
function placeWith(values, defaults) {
  const query = written(location.search, values, defaults);
  return query === location.search ? null : location.pathname + query + location.hash;
}
