// Puts `html` markup into a live element by changing only what differs, so that focus, scroll, hover and running
// transitions survive an update. The laws: children with `data-key` are matched by key, others by place and name;
// a custom element owns its children, only its attributes are set; `data-css="--name:value;…"` becomes CSSOM
// properties (a style attribute would be refused by the content policy); a field that has focus keeps its value; whether
// a dialog or details is open is the reader's business.

/** @typedef {import("./html.js").Html} Html */

/** @param {Element | ShadowRoot} root @param {Html} content */
export function render(root, content) {
  const template = document.createElement("template");
  template.innerHTML = content.toString();
  for (const part of template.content.querySelectorAll("[data-css]")) applyCss(part);
  morphChildren(root, template.content);
}

/** A new element from markup with one root. @param {Html} content @returns {HTMLElement} */
export function element(content) {
  const holder = document.createElement("div");
  render(holder, content);
  const made = holder.firstElementChild;
  if (!(made instanceof HTMLElement)) throw new TypeError("expected markup with one root element");
  return made;
}

/** Changes one element so that it equals the markup's root. @param {Element} old @param {Html} content */
export function patch(old, content) {
  morphElement(old, element(content));
}

/** @param {Element} el */
function applyCss(el) {
  if (!(el instanceof HTMLElement || el instanceof SVGElement)) return;
  for (const rule of (el.getAttribute("data-css") ?? "").split(";")) {
    const colon = rule.indexOf(":");
    if (colon > 0) el.style.setProperty(rule.slice(0, colon).trim(), rule.slice(colon + 1).trim());
  }
}

/** @param {Node} node */
function keyOf(node) {
  return node instanceof Element ? node.getAttribute("data-key") : null;
}

/** @param {Node} a @param {Node} b */
function alike(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName;
}

/** @param {Node} to @param {Node} from */
function morphChildren(to, from) {
  const wanted = new Set();
  for (const node of from.childNodes) wanted.add(keyOf(node));
  const keyed = new Map();
  for (const node of [...to.childNodes]) {
    const key = keyOf(node);
    if (key === null) continue;
    if (wanted.has(key)) keyed.set(key, node);
    else node.parentNode?.removeChild(node);
  }
  /** @type {ChildNode | null} */
  let here = to.firstChild;
  for (const next of [...from.childNodes]) {
    const key = keyOf(next);
    /** @type {ChildNode | null} */
    const match = key === null ? (here && keyOf(here) === null ? here : null) : (keyed.get(key) ?? null);
    if (match && alike(match, next)) {
      if (match === here) here = match.nextSibling;
      else to.insertBefore(match, here);
      morphNode(match, next);
    } else {
      to.insertBefore(next, here);
    }
  }
  while (here) {
    const after = here.nextSibling;
    to.removeChild(here);
    here = after;
  }
}

/** @param {Node} old @param {Node} next */
function morphNode(old, next) {
  if (old instanceof Element && next instanceof Element) morphElement(old, next);
  else if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
}

/** @param {Element} old @param {Element} next */
function morphElement(old, next) {
  const ours =
    old instanceof HTMLDialogElement || old instanceof HTMLDetailsElement ? ["style", "open"] : ["style"];
  for (const { name } of [...old.attributes])
    if (!next.hasAttribute(name) && !ours.includes(name)) setAttribute(old, name, null);
  for (const { name, value } of next.attributes)
    if (!ours.includes(name) && old.getAttribute(name) !== value) setAttribute(old, name, value);
  if (!old.localName.includes("-")) morphChildren(old, next);
}

/** @param {Element} el @param {string} name @param {string | null} value */
function setAttribute(el, name, value) {
  if (value === null) el.removeAttribute(name);
  else el.setAttribute(name, value);
  if (name === "data-css") applyCss(el);
  else if (name === "value" && el instanceof HTMLInputElement && el !== focused(el)) el.value = value ?? "";
  else if (name === "checked" && el instanceof HTMLInputElement) el.checked = value !== null;
  else if (name === "selected" && el instanceof HTMLOptionElement) el.selected = value !== null;
}

/** @param {Element} el */
function focused(el) {
  const root = el.getRootNode();
  return root instanceof ShadowRoot ? root.activeElement : document.activeElement;
}
