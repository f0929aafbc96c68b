// Menus made of <details class="menu">, and the buttons that copy a text.
import { toast } from "../shared/toast.js";

/** Closes the open menus, except one that contains `inside` unless `inside` is one of its entries. Returns
 * whether any was open. @param {Element} root @param {EventTarget | null} inside */
export function closeMenus(root, inside) {
  let closed = false;
  for (const menu of root.querySelectorAll("details.menu[open]")) {
    const within = inside instanceof Node && menu.contains(inside);
    const chosen = inside instanceof Element && inside.closest(".menu-list a, .menu-list button");
    if (within && !chosen) continue;
    menu.removeAttribute("open");
    closed = true;
  }
  return closed;
}

/** Copies the button's `data-text` and shows `data-said` as a toast. @param {HTMLElement} button */
export async function copyText({ dataset }) {
  try {
    await navigator.clipboard.writeText(dataset.text ?? "");
    toast(dataset.said ?? "Copied.");
  } catch {
    toast("This browser does not let the page copy; select the text and copy it.", { kind: "warning" });
  }
}
