// <coppice-toasts></coppice-toasts>
//
// Shows the messages of `toast()` and of the server (`toast:success` …), newest last, each for eight seconds
// or until it is closed. None goes while the pointer or the focus is on one.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { sentence } from "../shared/format.js";
import { html, keyed } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { live } from "../shared/socket.js";
import { toast, toastError } from "../shared/toast.js";

/** An automatic prune can be undone from its toast.
 * @param {{ session_id?: string, prune_id?: number }} payload */
function undoOf({ session_id, prune_id }) {
  if (!session_id || !prune_id) return undefined;
  const run = () =>
    api.undo(session_id, prune_id).then(
      ({ message }) => toast(sentence(message)),
      (error) => toastError(error, "Could not undo"),
    );
  return { label: "Undo", run };
}

const SHOWN_MS = 8000;
const MOST = 3;

/** @typedef {import("../shared/toast.js").ToastOptions & { message: string, id: number }} Toast */

export class CoppiceToasts extends CoppiceElement {
  /** @type {Toast[]} */
  #toasts = [];
  #count = 0;

  start() {
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Notices");
    this.listen(document, "coppice:toast", (/** @type {CustomEvent} */ event) => this.#add(event.detail));
    for (const kind of /** @type {const} */ (["success", "warning", "error"]))
      this.hear(live, [`toast:${kind}`], (payload) =>
        this.#add({ message: payload.message, kind, act: undoOf(payload) }),
      );
    this.actions({
      "toast-act": (target) => this.#close(Number(target.dataset.id), true),
      "toast-close": (target) => this.#close(Number(target.dataset.id), false),
    });
  }

  /** @param {Omit<Toast, "id">} toast */
  #add(toast) {
    const twin = this.#toasts.find((t) => t.message === toast.message);
    if (twin) {
      twin.act = toast.act ?? twin.act;
      return this.requestUpdate();
    }
    const id = ++this.#count;
    this.#toasts = [...this.#toasts, { ...toast, id }].slice(-MOST);
    if (!toast.stay) this.#expire(id);
    this.requestUpdate();
  }

  /** @param {number} id */
  #expire(id) {
    setTimeout(() => {
      if (this.matches(":hover") || this.contains(document.activeElement)) this.#expire(id);
      else this.#close(id, false);
    }, SHOWN_MS);
  }

  /** @param {number} id @param {boolean} act */
  #close(id, act) {
    const found = this.#toasts.find((t) => t.id === id);
    this.#toasts = this.#toasts.filter((t) => t.id !== id);
    this.requestUpdate();
    if (act) found?.act?.run();
  }

  view() {
    return html`${keyed(this.#toasts, "id", one)}`;
  }
}

/** @param {Toast} toast */
function one({ id, kind = "success", message, act }) {
  return html`<div class="toast" data-kind=${kind} role=${kind === "error" ? "alert" : "status"}>
    ${kind !== "success" && icon(kind)}
    <span>${message}</span>
    ${act && html`<button class="act" data-act="toast-act" data-id=${id}>${act.label}</button>`}
    <button class="iconic" data-act="toast-close" data-id=${id} aria-label="Close">${icon("close")}</button>
  </div>`;
}

customElements.define("coppice-toasts", CoppiceToasts);
