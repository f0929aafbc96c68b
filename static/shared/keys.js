// Keyboard shortcuts, and the focus that they move. Elements register keys while they are on a page, one
// ("j") or a sequence of two ("g o"). Typing in a field does not fire them.

/** @typedef {{ key: string, label: string, run: () => void }} Shortcut */

/** The controls that use Enter themselves. */
const CONTROLS = "a, button, summary, input:not([type=range]), select, [role=tab]";
/** @type {Set<Shortcut>} */
const shortcuts = new Set();

/** Registers shortcuts until `signal` aborts. @param {Shortcut[]} list @param {AbortSignal} signal */
export function shortcutsFor(list, signal) {
  document.addEventListener("keydown", press); // added only once; a page without shortcuts has no listener
  for (const shortcut of list) shortcuts.add(shortcut);
  signal.addEventListener("abort", () => {
    for (const shortcut of list) shortcuts.delete(shortcut);
  });
}

/** The registered shortcuts. */
export const allShortcuts = () => [...shortcuts];

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  const pressed = target instanceof HTMLInputElement && /checkbox|range/.test(target.type);
  return target.isContentEditable || (/^(input|textarea|select)$/.test(target.localName) && !pressed);
}

/** The text of a search field; null for anything else. @param {EventTarget | null} target */
const textSought = (target) =>
  target instanceof HTMLInputElement && target.type === "search" ? target.value : null;

/** The keys that may be held: each press moves the focus by one. */
const HELD = "jk[]";

/** The first of two keys, until the second is pressed or too much time has passed. */
let first = "";
/** @type {ReturnType<typeof setTimeout> | undefined} */
let forget;
const SECOND_KEY_MS = 1500;

/** @param {KeyboardEvent} event */
function press(event) {
  const alt = event.altKey && !"[]".includes(event.key); // with which some keyboards type the brackets
  if (event.ctrlKey || event.metaKey || alt || event.defaultPrevented) return;
  const sought = textSought(event.target);
  // Escape first clears a search.
  if (event.key === "Escape" ? sought : isTyping(event.target)) {
    if (event.key === "/" && sought === "") event.preventDefault(); // it has the focus
    return;
  }
  if (event.repeat && !HELD.includes(event.key)) return;
  if (document.querySelector("dialog[open]")) return; // Escape closes the dialog, and nothing behind it
  const key = first ? `${first} ${event.key}` : event.key;
  const all = [...shortcuts].reverse();
  first = "";
  clearTimeout(forget);
  const found = all.find((shortcut) => shortcut.key === key);
  if (!found && all.some((shortcut) => shortcut.key.startsWith(`${key} `))) {
    first = key;
    forget = setTimeout(() => {
      first = "";
    }, SECOND_KEY_MS);
  }
  if (!found) return;
  // Enter belongs to the control that has the focus.
  const control = event.target instanceof Element && event.target.closest(CONTROLS);
  if (event.key === "Enter" && control) return;
  if (event.key !== "Escape") event.preventDefault();
  found.run();
}

/** True if a key was the last input. */
let isByKey = false;

/** @param {Event} event */
function follow({ type }) {
  isByKey = type === "keydown";
}

/** Follows which input is the last; the listeners are added only once. */
export function followInputs() {
  for (const type of ["keydown", "pointerdown"]) document.addEventListener(type, follow, true);
}

/** Focuses an element, if there is one. After a key it gets a focus ring; Safari would draw none if the focus
 * came from an element that was clicked.
 * @param {Element | null | undefined} target @param {FocusOptions} [options] */
export function focusOn(target, options) {
  if (target instanceof HTMLElement) target.focus(isByKey ? { ...options, focusVisible: true } : options);
}
