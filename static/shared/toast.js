// Shows a message at the bottom of the page: `toast("42 messages pruned", { act: { label: "Undo", run } })`.
import { reasonOf } from "./problem.js";

/** @typedef {{ label: string, run: () => unknown }} Act */
/** `act` undoes the action, `also` is the next step.
 * @typedef {{ kind?: "success" | "warning" | "error", act?: Act, also?: Act, stay?: boolean }}
 * ToastOptions */

/** @param {string} message @param {ToastOptions} [options] */
export function toast(message, options = {}) {
  document.dispatchEvent(new CustomEvent("coppice:toast", { detail: { message, ...options } }));
}

/** @param {unknown} error @param {string} doing what was being done: "Could not prune" */
export function toastError(error, doing) {
  toast(`${doing}: ${reasonOf(error)}`, { kind: "error", stay: true });
}
