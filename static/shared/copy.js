// The buttons that copy a text.
import { toast } from "./toast.js";

/** Copies the button's `data-text` and shows `data-said` as a toast. @param {HTMLElement} button */
export async function copyText({ dataset }) {
  try {
    await navigator.clipboard.writeText(dataset.text ?? "");
    toast(dataset.said ?? "Copied.");
  } catch {
    toast("This browser does not let the page copy; select the text and copy it.", { kind: "warning" });
  }
}
