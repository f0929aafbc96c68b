// Registers every element; a page's markup decides which of them live on it.
import "./elements/coppice-status.js";
import "./elements/coppice-toasts.js";
import "./elements/coppice-shortcuts.js";
import "./elements/context-gauge.js";
import "./elements/trend-line.js";
import "./elements/file-drop.js";
import "./elements/coppice-overview.js";
import "./elements/coppice-session.js";
import "./elements/coppice-settings.js";
import "./elements/coppice-search.js";
import "./elements/coppice-memory.js";
import "./elements/context-manager-widget.js";
