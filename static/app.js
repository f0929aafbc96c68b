// Registers the elements of every page; a page's own root element comes with the page (`templates/`).
import "./elements/coppice-status.js";
import "./elements/coppice-toasts.js";
import "./elements/coppice-shortcuts.js";
import "./elements/context-manager-widget.js";
