// Asks in a dialog of the page before something that cannot be undone:
// `if (await ask({ title: "Delete this session?", text, yes: "Delete" })) …`
import { html, render } from "./html.js";

/** Resolves to true if the reader confirms. The safe answer has the focus, Escape gives it, and so does
 * `signal`, once the question is moot. The focus returns to where it was.
 * @param {{ title: string, text: import("./html.js").Html, yes: string, no?: string,
 * signal?: AbortSignal }} question @returns {Promise<boolean>} */
export function ask({ title, text, yes, no = "Keep it", signal }) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "ask-title");
  const content = html`<header><h2 id="ask-title">${title}</h2></header>
    <div class="body">${text}</div>
    <form method="dialog" class="foot">
      <button autofocus>${no}</button>
      <button class="danger" value="yes">${yes}</button>
    </form>`;
  render(content, dialog);
  document.body.append(dialog);
  dialog.showModal();
  signal?.addEventListener("abort", () => dialog.close());
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
