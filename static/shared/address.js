// What is chosen on a page (filter, sort, find) as part of its address, so that a reload or a shared link
// keeps the view. `read` and `written` are pure; only what differs from the page's own beginning stands in
// the address.

/** What the address says of the fields that `beginning` names. @template {Record<string, string>} T
 * @param {string} search the query part of an address @param {T} beginning @returns {T} */
export function read(search, beginning) {
  const query = new URLSearchParams(search);
  const found = Object.keys(beginning).map((name) => [name, query.get(name) ?? beginning[name]]);
  return Object.fromEntries(found);
}

/** The query part of the address with these values; what else stands in it stays. @param {string} search
 * @param {Record<string, string>} values @param {Record<string, string>} beginning */
export function written(search, values, beginning) {
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(values))
    if (value === beginning[name]) query.delete(name);
    else query.set(name, value);
  const text = query.toString();
  return text ? `?${text}` : "";
}

/** Puts these values into the address of the page, without a step in its history.
 * @param {Record<string, string>} values @param {Record<string, string>} beginning */
export function write(values, beginning) {
  const query = written(location.search, values, beginning);
  if (query !== location.search)
    history.replaceState(history.state, "", location.pathname + query + location.hash);
}
