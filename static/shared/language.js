// Makes `navigator.language` a valid language tag, for libraries that format with it while they load.
// Browsers on systems without a language may report one that Intl refuses, such as "en-US@posix"; it becomes
// the one that Intl uses by default. Imported before such a library. Our own modules leave it to Intl.

/** True if Intl takes the tag. @param {string} tag */
function isValid(tag) {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

if (!isValid(navigator.language))
  Object.defineProperty(navigator, "language", { value: new Intl.NumberFormat().resolvedOptions().locale });
