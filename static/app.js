// Registers the elements of every page, and gives the page a language; the page's template loads its own root
// element after that.
import "./frame/coppice-status.js";
import "./frame/coppice-toasts.js";
import "./frame/coppice-shortcuts.js";
import "./frame/prefetch.js";
import "./frame/focus.js";

/** True if Intl takes a language tag. @param {string} tag */
function isValid(tag) {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

// Browsers on systems without a language may report a tag that Intl refuses, such as "en-US@posix", and uPlot
// formats with it while it loads. It becomes the language that Intl, and so our own modules, use by default.
if (!isValid(navigator.language))
  Object.defineProperty(navigator, "language", { value: new Intl.NumberFormat().resolvedOptions().locale });
