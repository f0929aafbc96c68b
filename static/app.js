// Registers the elements of every page; the page's template loads its own root element.
import "./frame/coppice-status.js";
import "./frame/coppice-toasts.js";
import "./frame/coppice-shortcuts.js";
import "./frame/prefetch.js";
import "./frame/focus.js";
