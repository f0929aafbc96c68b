// Only on the pages of a viewer, whose token can change nothing: disables the controls that change something,
// whenever they are drawn. base.html has the sentence that says why.
import { whyNot } from "../shared/viewing.js";

const CHANGING = [
  // a session
  '[data-act="message"]:not([data-do="shorten"])',
  "coppice-session .more [name]",
  'coppice-session [data-act="delete"]',
  '[name="own_window"]',
  'coppice-session [name="task_type"]',
  '[name="own_cap"]',
  '[data-act="apply-plan"]',
  '[data-act="relieve"]',
  '[data-act="save-session"]',
  '[data-act="save-all"]',
  '[data-act="follow-all"]',
  '[data-act="undo"]',
  '[data-act="write-copy"]',
  '[data-act="archive-restore"]',
  '[data-act="summarize"]',
  '[data-act="cancel-summary"]',
  'summary-panel [data-act="expand"]',
  // the overview
  'coppice-overview [data-act="import"]',
  '[data-act="demo"]',
  // the settings
  'coppice-settings [data-act="save"]',
  '[data-act="save-model"]',
  '[data-act="reset-model"]',
  '[data-act="set-limits"]',
  '[data-act="apply-limits"]',
  '[data-act="save-webhook"]',
  '[data-act="pause-webhook"]',
  '[data-act="test-webhook"]',
  '[data-act="rotate-webhook"]',
  '[data-act="delete-webhook"]',
  '[data-act="send-again"]',
  // the memory
  'coppice-memory [data-act="add"]',
  'coppice-memory [data-act="save"]',
  'coppice-memory [data-act="delete"]',
  '[data-act="keep-proposal"]',
  '[data-act="dismiss-proposal"]',
]
  .map((one) => `${one}:not(:disabled)`)
  .join(", ");

function disable() {
  const why = whyNot();
  for (const control of document.querySelectorAll(CHANGING)) {
    /** @type {HTMLButtonElement | HTMLInputElement | HTMLSelectElement} */ (control).disabled = true;
    control.setAttribute("title", why);
  }
}

disable();
// A template that is drawn again can enable them.
new MutationObserver(disable).observe(document.body, {
  childList: true,
  subtree: true,
  attributeFilter: ["disabled"],
});
