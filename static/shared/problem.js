// The box that reports a failure, with a button to retry.
import { html } from "./html.js";
import { icon } from "./icons.js";

/** The message of an error. @param {unknown} error */
export const reasonOf = (error) => (error instanceof Error ? error.message : String(error));

/** @param {string} what "Could not read the history" @param {string} why
 * @param {string} retry the act that tries again */
export function problem(what, why, retry) {
  return html`<div class="problem" role="alert">
    ${icon("error")}<span>${what}: ${why}</span><button class="small" data-act=${retry}>Try again</button>
  </div>`;
}
