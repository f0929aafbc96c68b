// Small choices of this browser, such as the theme, kept in localStorage; where that is full or not allowed,
// on this page only.

/** The choices that localStorage did not take. @type {Map<string, string | null>} */
const ofThisPage = new Map();

/** @param {string} key @returns {string | null} */
export function recall(key) {
  try {
    if (ofThisPage.has(key)) return ofThisPage.get(key) ?? null;
    return localStorage.getItem(`coppice-${key}`);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string | null} value */
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(`coppice-${key}`);
    else localStorage.setItem(`coppice-${key}`, value);
    ofThisPage.delete(key);
  } catch {
    ofThisPage.set(key, value);
  }
}
