// In place of an answer: a failure with a button to retry, and a field for the token if that is missing, or
// the note that the answer is still to come.
import { ApiError } from "./api.js";
import { html, nothing, withCode } from "./html.js";
import { icon } from "./icons.js";

/** A thrown value as an Error. @param {unknown} thrown */
export const errorOf = (thrown) => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** The message of an error. @param {unknown} error */
export const reasonOf = (error) => errorOf(error).message;

/** True for the answer that there is no such thing. @param {unknown} error */
export const isMissing = (error) => error instanceof ApiError && error.status === 404;

/** The reason why a part of a page is missing that is loaded when it is first shown. */
export const NOT_LOADED = "its file did not arrive; if it does not arrive again, reload the page";

/** In place of what is still to be read, unless that comes at once. */
export const READING = html`<p class="muted reading">Reading…</p>`;

/** @param {string} what "Could not read the history" @param {string} why
 * @param {string} retry the act that tries again @param {string | number} [id] what it tries to read */
export function problem(what, why, retry, id) {
  return html`<div class="beside problem" role="alert">
    ${icon("error")}<span>${what}: ${withCode(why)}</span><button class="small end" data-act=${retry}
      data-id=${id ?? nothing}>Try again</button>
  </div>`;
}

/** A field for a token, if the server asks for one. Few visits need its module. @param {Error} error */
export function tokenForm(error) {
  if (!(error instanceof ApiError) || error.status !== 401) return "";
  import("./token-form.js").catch(() => null); // without it the message beside it says what to do
  return html`<token-form></token-form>`;
}
