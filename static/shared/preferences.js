// Small choices of this browser (theme, open panel), kept in localStorage if that is allowed.

/** @param {string} key @returns {string | null} */
export function recall(key) {
  try {
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
  } catch {
    // Not kept; the choice still holds on this page.
  }
}
