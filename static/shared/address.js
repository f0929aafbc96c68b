// The choices of a page (filter, sort, find) in its address, so that a reload or a shared link keeps them.
// Choices at their default are left out. `read` and `written` are pure.

/** The choices in an address; those it lacks have their default. @template {Record<string, string>} T
 * @param {string} search the query part of an address @param {T} beginning @returns {T} */
export function read(search, beginning) {
  const query = new URLSearchParams(search);
  const found = Object.keys(beginning).map((name) => [name, query.get(name) ?? beginning[name]]);
  return Object.fromEntries(found);
}

/** The query part of the address with these choices; other parameters stay. @param {string} search
 * @param {Record<string, string>} values @param {Record<string, string>} beginning */
export function written(search, values, beginning) {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values))
    if (value === beginning[name]) query.delete(name);
    else query.set(name, value);
  const text = query.toString();
  return text ? `?${text}` : "";
}

/** Writes the choices into the page's address without a step in its history.
 * @param {Record<string, string>} values @param {Record<string, string>} beginning */
export function write(values, beginning) {
  const query = written(location.search, values, beginning);
  if (query !== location.search)
    history.replaceState(history.state, "", location.pathname + query + location.hash);
}
