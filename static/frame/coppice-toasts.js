// <coppice-toasts></coppice-toasts>
//
// Shows the messages of `toast()` and of the server (`toast:success` …), one at a time: the newest for eight
// seconds, with a button for a minute, or until it is closed. A toast with the pointer or focus stays, and
// the next one waits. An error with `stay` comes back after later messages. The key "n" moves the focus to
// the toast, and Escape closes one with the focus. A closed toast returns the focus.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { sentence } from "../shared/format.js";
import { html, keyed, nothing, withCode } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { focusOn, shortcutsFor } from "../shared/keys.js";
import { live } from "../shared/socket.js";
import { toast, toastError } from "../shared/toast.js";

/** An automatic prune can be undone from its toast.
 * @param {{ session_id?: string, prune_id?: number }} payload */
function undoOf({ session_id, prune_id }) {
  if (!session_id || !prune_id) return undefined;
  const run = async () => toast(sentence((await api.undo(session_id, prune_id)).message));
  return { label: "Undo", run };
}

const SHOWN_MS = 8000;
/** Time to find and reach an undo, also with assistive technology. */
const OFFERED_MS = 60_000;

/** @typedef {import("../shared/toast.js").ToastOptions & { message: string, id: number }} Toast */

class CoppiceToasts extends CoppiceElement {
  /** The toast that is shown. @type {Toast | null} */
  #shown = null;
  /** Errors to show again, and toasts that arrived while the shown one had pointer or focus.
   * @type {Toast[]} */
  #others = [];
  #count = 0;
  /** The element that had the focus before the toast. @type {EventTarget | null} */
  #before = null;

  start() {
    this.listen(this, "focusin", (/** @type {FocusEvent} */ { relatedTarget }) => {
      if (!(relatedTarget instanceof Node && this.contains(relatedTarget))) this.#before = relatedTarget;
    });
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Notices");
    this.listen(document, "coppice:toast", (/** @type {CustomEvent} */ event) => this.#add(event.detail));
    for (const kind of /** @type {const} */ (["success", "warning", "error"]))
      this.hear(live, [`toast:${kind}`], (payload) =>
        this.#add({ message: payload.message, kind, act: undoOf(payload) }),
      );
    this.actions({
      "toast-act": () => this.#close("act"),
      "toast-also": () => this.#close("also"),
      "toast-close": () => this.#close(),
    });
    this.listen(this, "keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Escape") return;
      event.preventDefault(); // nothing else is closed
      this.#close();
    });
    shortcutsFor(
      [{ key: "n", label: "Go to the notice", run: () => focusOn(this.querySelector("button")) }],
      this.life,
    );
  }

  /** True while the pointer or the focus is on the toast. */
  get #isHeld() {
    return this.matches(":hover") || this.contains(document.activeElement);
  }

  /** @param {Omit<Toast, "id">} toast */
  #add(toast) {
    const twin = [this.#shown, ...this.#others].find((one) => one?.message === toast.message);
    if (twin && twin === this.#shown) {
      twin.act = toast.act ?? twin.act;
      return this.requestUpdate();
    }
    this.#others = this.#others.filter((one) => one !== twin);
    const next = { ...toast, id: ++this.#count };
    if (this.#shown && this.#isHeld) this.#others.push(next);
    else {
      if (this.#shown?.stay) this.#others.push(this.#shown);
      this.#show(next);
    }
  }

  /** @param {Toast | null} toast */
  #show(toast) {
    this.#shown = toast;
    if (toast && !toast.stay) this.#expire(toast);
    this.requestUpdate();
  }

  /** @param {Toast} toast */
  #expire(toast) {
    const shown = toast.act ? OFFERED_MS : SHOWN_MS;
    setTimeout(() => {
      if (this.#shown?.id !== toast.id) return;
      if (this.#isHeld) this.#expire(toast);
      else this.#close();
    }, shown);
  }

  /** @param {"act" | "also"} [button] that was pressed */
  async #close(button) {
    const act = button && this.#shown?.[button];
    this.#show(this.#others.pop() ?? null);
    try {
      await act?.run();
    } catch (error) {
      toastError(error, `Could not ${act?.label.toLowerCase()}`);
    }
  }

  update() {
    const held = this.contains(document.activeElement);
    const before = this.#before;
    super.update();
    if (!held) return;
    this.#before = before; // also where the focus went on to the next toast
    if (document.activeElement === document.body && before instanceof HTMLElement)
      focusOn(before, { preventScroll: true });
  }

  /** An alert is announced when it is added, but a status only if it is added to a region that was there. */
  template() {
    const shown = keyed(this.#shown ? [this.#shown] : [], "id", one);
    const isAlert = this.#shown?.kind === "error";
    return html`<div role="status">${!isAlert && shown}</div>${isAlert && shown}`;
  }
}

/** @param {Toast} toast */
function one({ kind = "success", message, act, also }) {
  return html`<div class="beside toast" data-kind=${kind} role=${kind === "error" ? "alert" : nothing}>
    ${kind !== "success" && icon(kind)}
    <span>${withCode(message)}</span>
    ${act && html`<button class="act" data-act="toast-act">${act.label}</button>`}
    ${also && html`<button class="act" data-act="toast-also">${also.label}</button>`}
    <button class="iconic" data-act="toast-close" aria-label="Close">${icon("close")}</button>
  </div>`;
}

customElements.define("coppice-toasts", CoppiceToasts);
