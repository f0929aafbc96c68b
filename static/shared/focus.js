// Moves the focus. Browsers ring what gets the focus after a key, but Safari goes by how the last element got
// it, and would not ring a row that a key reached after a click.

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

/** Focuses an element, if there is one. @param {Element | null | undefined} target
 * @param {FocusOptions} [options] */
export function focusOn(target, options) {
  if (target instanceof HTMLElement) target.focus(isByKey ? { ...options, focusVisible: true } : options);
}
