// <file-drop></file-drop>
//
// Imports files that are dropped anywhere on the page or picked with `pick()`, one after the other. A notice
// shows the progress and does not block the page. At the end it shows a toast, or a dialog for several
// results or problems. Emits `imported`.
import { api } from "../shared/api.js";
import { dialogHead } from "../shared/dialog-head.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, number, sentence, size } from "../shared/format.js";
import { html, nothing } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { reasonOf } from "../shared/problem.js";
import { pageOf } from "../shared/session-facts.js";
import { live } from "../shared/socket.js";
import { toast } from "../shared/toast.js";
import { unlessViewing, whyNot } from "../shared/viewing.js";

/** @typedef {Api.Imported["imported"][number]} Imported */
/** @typedef {{ name: string, size: number, read: number, state: "waiting" | "reading" | "done" | "failed",
 * error?: string, results?: Imported[] }} Entry */

const SHOWN_PROBLEMS = 20;

/** @param {File} file @returns {Entry} */
const waiting = (file) => ({ name: file.name, size: file.size, read: 0, state: "waiting" });

const UNREADABLE =
  "the browser cannot read it: it is a folder, or was written to since it was chosen. Choose the file again";

/** Returns whether the browser can read a file. Sending one that it cannot fails like a lost connection.
 * @param {File} file */
const isReadable = (file) =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

const INVITATION = html`<p>Drop to import</p>
  <p class="small muted">
    Transcripts of coding agents, OpenAI, Anthropic and Gemini message lists, Coppice exports.
  </p>`;
const veil = () => html`<div class="drop-veil" role="status">${whyNot() || INVITATION}</div>`;

export class FileDrop extends CoppiceElement {
  #over = false;
  /** The element that dragged files entered last. @type {EventTarget | null} */
  #under = null;
  /** @type {Entry[]} */
  #entries = [];
  /** @type {(readonly [File, Entry])[]} */
  #queue = [];

  start() {
    this.listen(window, "dragover", (/** @type {DragEvent} */ event) => this.#drag(event, true));
    // Entering an element comes before leaving the last one. Some Safari versions set no `relatedTarget`.
    this.listen(window, "dragenter", ({ target }) => {
      this.#under = target;
    });
    this.listen(window, "dragleave", (/** @type {DragEvent} */ event) => {
      if (event.target === this.#under) this.#drag(event, false);
    });
    this.listen(window, "drop", (/** @type {DragEvent} */ event) => {
      const files = [...(event.dataTransfer?.files ?? [])];
      this.#drag(event, false);
      if (files.length) unlessViewing(() => this.#read(files));
    });
    this.listen(this, "change", (/** @type {Event} */ event) => {
      const input = /** @type {HTMLInputElement} */ (event.target);
      if (input.files?.length) this.#read([...input.files]);
      input.value = "";
    });
    this.hear(live, ["import:progress"], (progress) => this.#progress(progress));
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

  /** @param {{ name: string, done: number }} progress */
  #progress({ name, done }) {
    const current = this.#current;
    if (current?.name !== name) return;
    current.read = done;
    this.requestUpdate();
  }

  /** Adds files to the queue. @param {File[]} files */
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
        const reason = (await isReadable(file)) ? reasonOf(error) : UNREADABLE;
        entry.error = reason.replace(`${file.name}: `, ""); // the name is above it
      }
    }
    this.update();
    this.#report();
  }

  #report() {
    const results = this.#entries.flatMap((entry) => entry.results ?? []);
    const clean =
      this.#entries.every((e) => e.state === "done") && results.every((r) => r.problems.length === 0);
    this.emit("imported");
    const [only, other] = results;
    if (!clean || !only?.session_id || other) return this.querySelector("dialog")?.showModal();
    const page = pageOf(only.session_id);
    const added = only.added && `${counted(only.added, "message")} imported`;
    toast(`${only.title}: ${added || "nothing new, all of it is here already"}`, {
      act: { label: "Open", run: () => location.assign(page) },
    });
  }

  template() {
    const current = this.#current;
    return html`<input type="file" multiple hidden aria-hidden="true" tabindex="-1">
      ${this.#over && veil()} ${current && this.#notice(current)}
      <dialog aria-labelledby="import-title">
        ${dialogHead("import-title", "Import", "close-report")}
        <div class="body">${this.#entries.map(report)}</div>
      </dialog>`;
  }

  /** @param {Entry} entry */
  #notice(entry) {
    const all = this.#entries.length;
    const place = all > 1 ? `, file ${number(this.#entries.indexOf(entry) + 1)} of ${number(all)}` : "";
    const read = entry.read > 0 ? `${size(entry.read)} of ` : "";
    return html`<div class="stack tight importing">
      <p class="one-line" role="status" title=${entry.name}>Importing <b>${entry.name}</b></p>
      <progress aria-label="Reading ${entry.name}" max=${entry.size}
        value=${entry.read || nothing}></progress>
      <p class="small muted num">${read}${size(entry.size)}${place}</p>
    </div>`;
  }
}

/** The report on one file. @param {Entry} entry */
function report(entry) {
  return html`<section class="stack tight import-file">
    <h3 class="beside">${icon(entry.state === "failed" ? "error" : "file")} ${entry.name}</h3>
    ${entry.error && html`<p class="fault">Not imported: ${entry.error}</p>`} ${entry.results?.map(imported)}
  </section>`;
}

/** @param {Imported} result */
function imported({ session_id, title, source_label, added, known, skipped, problems }) {
  const counts = [
    `${counted(added, "message")} added`,
    known && `${number(known)} known already`,
    skipped && `${number(skipped)} skipped`,
  ];
  const more = problems.length - SHOWN_PROBLEMS;
  const listed = html`<ul class="problems">
    ${problems.slice(0, SHOWN_PROBLEMS).map((problem) => html`<li>${sentence(problem)}</li>`)}
    ${more > 0 && html`<li class="muted">and ${counted(more, "more problem")}</li>`}
  </ul>`;
  return html`<p>
      ${session_id ? html`<a class="link" href=${pageOf(session_id)}>${title}</a>` : title}
      <span class="muted">${[source_label, ...counts].filter(Boolean).join(" · ")}</span>
    </p>
    ${problems.length > 0 && listed}`;
}

customElements.define("file-drop", FileDrop);
