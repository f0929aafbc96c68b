// Registers the elements of every page; a page's own root element comes with the page (`templates/`).
import "./frame/coppice-status.js";
import "./frame/coppice-toasts.js";
import "./frame/coppice-shortcuts.js";
import "./widget/context-manager-widget.js";
