// <file-drop></file-drop>
//
// Files dropped anywhere on the page, or picked with `pick()`, are imported one after the other. Meanwhile the page can
// be used; a notice says how far the file is read, as the server tells it. In the end a toast or, where there is more to
// say, a dialog reports what each became, with its problems. Emits `imported` with the results.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, number, sentence, size } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { render } from "../shared/render.js";
import { live } from "../shared/socket.js";
import { toast } from "../shared/toast.js";
import { sourceName } from "../shared/words.js";

/** @typedef {import("../shared/types.js").ImportResult["imported"][number]} Imported */
/** @typedef {{ name: string, size: number, read: number, state: "waiting" | "reading" | "done" | "failed", error?: string, results?: Imported[] }} Entry */

/** @param {Imported["problems"][number]} problem */
function problemText(problem) {
  if (typeof problem === "string") return sentence(problem);
  const text = problem.message ?? problem.reason ?? "";
  return sentence(problem.line ? `Line ${problem.line}: ${text}` : text);
}

/** @param {File} file @returns {Entry} */
const waiting = (file) => ({ name: file.name, size: file.size, read: 0, state: "waiting" });

export class FileDrop extends CoppiceElement {
  #over = false;
  /** @type {Entry[]} */
  #entries = [];
  /** @type {(readonly [File, Entry])[]} */
  #queue = [];

  start() {
    this.listen(window, "dragover", (/** @type {DragEvent} */ event) => this.#drag(event, true));
    this.listen(window, "dragleave", (/** @type {DragEvent} */ event) => {
      if (!event.relatedTarget) this.#drag(event, false);
    });
    this.listen(window, "drop", (/** @type {DragEvent} */ event) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      this.#drag(event, false);
      if (files.length) this.#read(files);
    });
    this.listen(this, "change", (/** @type {Event} */ event) => {
      const input = /** @type {HTMLInputElement} */ (event.target);
      if (input.files?.length) this.#read([...input.files]);
      input.value = "";
    });
    this.listen(live, "import:progress", (/** @type {CustomEvent} */ { detail }) => this.#progress(detail));
    this.listen(window, "beforeunload", (/** @type {Event} */ event) => {
      if (this.#current) event.preventDefault();
    });
    this.actions({ "close-report": () => this.querySelector("dialog")?.close() });
  }

  /** Opens the system's file picker. */
  pick() {
    /** @type {HTMLInputElement | null} */ (this.querySelector("input[type=file]"))?.click();
  }

  /** @param {DragEvent} event @param {boolean} over */
  #drag(event, over) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (this.#over === over) return;
    this.#over = over;
    this.requestUpdate();
  }

  /** The file that is being read. */
  get #current() {
    return this.#entries.find((entry) => entry.state === "reading");
  }

  /** @param {{ name: string, done: number }} told */
  #progress({ name, done }) {
    const current = this.#current;
    if (current?.name !== name) return;
    current.read = done;
    this.requestUpdate();
  }

  /** Files that come while others are read wait for their turn. @param {File[]} files */
  async #read(files) {
    const more = files.map((file) => /** @type {const} */ ([file, waiting(file)]));
    const busy = this.#queue.length > 0 || this.#current;
    if (!busy) this.#entries = [];
    this.#entries.push(...more.map(([, entry]) => entry));
    this.#queue.push(...more);
    if (!busy) await this.#readAll();
  }

  async #readAll() {
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      const [file, entry] = next;
      entry.state = "reading";
      this.requestUpdate();
      try {
        entry.results = (await api.importFile(file)).imported;
        entry.state = "done";
      } catch (error) {
        entry.state = "failed";
        entry.error = error instanceof Error ? error.message : String(error);
      }
    }
    this.update();
    this.#report();
  }

  #report() {
    const results = this.#entries.flatMap((entry) => entry.results ?? []);
    const clean =
      this.#entries.every((e) => e.state === "done") && results.every((r) => r.problems.length === 0);
    this.emit("imported", results);
    const only = results.length === 1 ? results[0] : null;
    if (clean && only) {
      const known =
        only.added === 0
          ? "Nothing new: it is all here already"
          : `${counted(only.added, "message")} imported`;
      toast(`${only.title}: ${known}`, {
        act: {
          label: "Open",
          run: () => location.assign(`/sessions/${encodeURIComponent(only.session_id)}`),
        },
      });
    } else this.querySelector("dialog")?.showModal();
  }

  update() {
    const current = this.#current;
    render(
      this,
      html`<input type="file" multiple hidden aria-hidden="true" tabindex="-1">
        ${
          this.#over &&
          html`<div class="drop-veil" data-key="veil" role="status"><p>Drop to import</p>
            <p class="small muted">Claude Code and Codex transcripts, OpenAI, Anthropic and Gemini message lists, Coppice exports. Recognised by content.</p></div>`
        }
        ${current && this.#notice(current)}
        <dialog data-key="report" aria-labelledby="import-title">
          <header><h2 id="import-title">Import</h2><button class="quiet iconic small" data-act="close-report" aria-label="Close">${icon("close")}</button></header>
          <div class="body">${this.#entries.map((entry) => this.#entry(entry))}</div>
        </dialog>`,
    );
  }

  /** @param {Entry} entry */
  #notice(entry) {
    const all = this.#entries.length;
    const place = all > 1 ? `, file ${number(this.#entries.indexOf(entry) + 1)} of ${number(all)}` : "";
    return html`<div class="importing" data-key="importing"><p class="one-line" role="status" title="${entry.name}">Importing <b>${entry.name}</b></p>
      <progress aria-label="Reading ${entry.name}" max="${entry.size}" ${entry.read > 0 ? html`value="${entry.read}"` : ""}></progress>
      <p class="small muted num">${entry.read > 0 && `${size(entry.read)} of `}${size(entry.size)}${place}</p></div>`;
  }

  /** @param {Entry} entry */
  #entry(entry) {
    return html`<section class="import-file">
      <h3>${icon(entry.state === "failed" ? "error" : "file")} ${entry.name}</h3>
      ${entry.error && html`<p class="fault">Not imported: ${entry.error}</p>`}
      ${(entry.results ?? []).map(
        (r) => html`<p><a class="link" href="/sessions/${encodeURIComponent(r.session_id)}">${r.title}</a>
            <span class="muted">${sourceName(r.source)} · ${counted(r.added, "message")} added${r.known ? ` · ${r.known} known already` : ""}${r.skipped ? ` · ${r.skipped} skipped` : ""}</span></p>
          ${
            r.problems.length > 0 &&
            html`<ul class="problems">${r.problems.slice(0, 20).map((p) => html`<li>${problemText(p)}</li>`)}
            ${r.problems.length > 20 && html`<li class="muted">and ${counted(r.problems.length - 20, "more problem")}</li>`}</ul>`
          }`,
      )}
    </section>`;
  }
}

customElements.define("file-drop", FileDrop);
