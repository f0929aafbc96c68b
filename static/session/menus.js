// Menus made of <details class="menu">.

/** Closes the open menus, except one that contains `inside` unless `inside` is one of its entries. A focus
 * within a menu that closes goes to its button. Returns whether any was open. @param {Element} root
 * @param {EventTarget | null} inside */
export function closeMenus(root, inside) {
  let closed = false;
  for (const menu of root.querySelectorAll("details.menu[open]")) {
    const within = inside instanceof Node && menu.contains(inside);
    const chosen = inside instanceof Element && inside.closest(".menu-list a, .menu-list button");
    if (within && !chosen) continue;
    if (menu.querySelector(".menu-list :focus")) menu.querySelector("summary")?.focus();
    menu.removeAttribute("open");
    closed = true;
  }
  return closed;
}
