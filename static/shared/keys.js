// Keyboard shortcuts: pages register what a key does; typing in a field never fires one.

/** @typedef {{ key: string, label: string, run: (event: KeyboardEvent) => void, group?: string }} Shortcut */

/** @type {Set<Shortcut>} */
const shortcuts = new Set();

/** Registers shortcuts until `signal` aborts. @param {Shortcut[]} list @param {AbortSignal} signal */
export function shortcutsFor(list, signal) {
  for (const shortcut of list) shortcuts.add(shortcut);
  signal.addEventListener("abort", () => {
    for (const shortcut of list) shortcuts.delete(shortcut);
  });
}

/** All that can be pressed now, for the dialog. */
export function allShortcuts() {
  return [...shortcuts];
}

/** @param {EventTarget | null} target */
export function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true;
  return (
    target instanceof HTMLInputElement && !["checkbox", "radio", "range", "button"].includes(target.type)
  );
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(event.target) && event.key !== "Escape") return;
  if (document.querySelector("dialog[open]") && event.key !== "Escape") return;
  const found = [...shortcuts].reverse().find((shortcut) => shortcut.key === event.key);
  if (!found) return;
  // Enter belongs to the control that has the focus, a switch or a slider no less than a button.
  if (
    event.key === "Enter" &&
    event.target instanceof Element &&
    event.target.closest("a, button, summary, input, select, [role=tab]")
  )
    return;
  if (event.key !== "Escape") event.preventDefault();
  found.run(event);
}

document.addEventListener("keydown", press);
