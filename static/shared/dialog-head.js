// The head of a dialog: its title, and a button that closes it.
import { html } from "./html.js";
import { icon } from "./icons.js";

/** @param {string} id of the title, which names the dialog @param {string} title
 * @param {string} close the act that closes the dialog */
export const dialogHead = (id, title, close) => html`<header>
  <h2 id=${id}>${title}</h2>
  <button class="quiet iconic small end" data-act=${close} aria-label="Close">${icon("close")}</button>
</header>`;
