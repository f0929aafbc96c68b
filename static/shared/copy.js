// A text for the reader to take along: copied by a button, or saved as a file.
import { toast } from "./toast.js";

/** Copies the button's `data-text` and shows `data-said` as a toast. @param {HTMLElement} button */
export async function copyText({ dataset }) {
  try {
    await navigator.clipboard.writeText(dataset.text ?? "");
    toast(dataset.said ?? "Copied.");
  } catch {
    toast("This browser does not allow the page to copy; select the text and copy it.", { kind: "warning" });
  }
}

/** Saves a text that the page made as a file.
 * @param {string} name of the file @param {string} type its MIME type @param {string} text */
export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
