// <models-table></models-table>
//
// The windows of all models with source and date; a row can be overridden, and a model added. Reads and writes
// /api/models itself; follows `models:changed`.
import { ApiError, api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { number, sentence } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { problem } from "../shared/problem.js";
import { render } from "../shared/render.js";
import { live } from "../shared/socket.js";
import { toast, toastError } from "../shared/toast.js";
import { typed } from "./values.js";

/** @typedef {import("../shared/types.js").Model} Model */

/** @type {["window" | "input_limit" | "output_limit", string][]} */
const FIELDS = [
  ["window", "Window"],
  ["input_limit", "Input limit"],
  ["output_limit", "Output limit"],
];

export class ModelsTable extends CoppiceElement {
  /** @type {Model[] | null} */
  #models = null;
  #q = "";
  /** @type {string | null} the model that is being edited; "" for a new one */
  #editing = null;
  /** @type {import("../shared/types.js").Fault[]} */
  #faults = [];
  /** @type {string | null} */
  #error = null;

  start() {
    this.actions({
      "retry-models": () => this.#load(),
      edit: (target) => this.#edit(target.dataset.name ?? ""),
      "cancel-model": () => this.#edit(null),
      "save-model": () => this.#save(),
      "reset-model": (target) => this.#reset(target.dataset.name ?? ""),
    });
    this.listen(this, "input", (/** @type {Event} */ event) => {
      const field = /** @type {HTMLInputElement} */ (event.target);
      if (field.type !== "search") return;
      this.#q = field.value;
      this.requestUpdate();
    });
    this.listen(this, "keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && this.#editing !== null && event.target instanceof HTMLInputElement)
        this.#save();
      if (event.key === "Escape") this.#edit(null);
    });
    this.listen(live, "models:changed", () => this.#load());
    this.#load();
  }

  async #load() {
    try {
      this.#models = await api.models();
      this.#error = null;
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  /** @param {string | null} name */
  #edit(name) {
    this.#editing = name;
    this.#faults = [];
    this.update();
    if (name !== null)
      /** @type {HTMLInputElement | null} */ (this.querySelector(".model-edit input"))?.focus();
  }

  /** @param {string} name */
  #field(name) {
    return (
      /** @type {HTMLInputElement | null} */ (this.querySelector(`.model-edit [name="${name}"]`))?.value ?? ""
    );
  }

  async #save() {
    const editing = this.#editing;
    const name = editing || this.#field("model").trim();
    if (!name) {
      this.#faults = [{ field: "model", message: "expected a model's name" }];
      return this.requestUpdate();
    }
    try {
      await api.saveModel(
        name,
        Object.fromEntries(FIELDS.map(([field]) => [field, typed(this.#field(field), field !== "window")])),
      );
      if (this.#editing === editing) this.#editing = null;
      toast(`${name}: your limits hold from now on.`);
      await this.#load();
    } catch (error) {
      if (error instanceof ApiError && error.faults.length) this.#faults = error.faults;
      else toastError(error, `Could not save ${name}`);
    }
    this.requestUpdate();
  }

  /** @param {string} name */
  async #reset(name) {
    try {
      await api.deleteModel(name);
      toast(`${name}: the table's own limits hold again.`);
      await this.#load();
    } catch (error) {
      toastError(error, `Could not reset ${name}`);
    }
  }

  update() {
    const q = this.#q.trim().toLowerCase();
    const shown = (this.#models ?? []).filter((m) => m.name.toLowerCase().includes(q));
    render(
      this,
      html`<section class="panel group-box" id="models" aria-labelledby="models-title"><header><h2 id="models-title">Models</h2><span class="muted small">windows in tokens</span><span class="end models-tools"><input type="search" value="${this.#q}" placeholder="Find a model" aria-label="Find a model"><button class="small" data-act="edit" data-name="">${icon("plus")}Add</button></span></header>
        ${this.#error && problem("Could not read the models", this.#error, "retry-models")}
        ${this.#editing === "" && html`<div class="pad" data-key="new">${this.#form(null)}</div>`}
        <div class="models-scroll" data-key="table"><table class="models"><thead><tr><th>Model</th><th class="num">Window</th><th class="num">Input limit</th><th class="num">Output limit</th><th>Source</th><th><span class="sr">Act</span></th></tr></thead>
          <tbody>${shown.map((m) => this.#row(m))}</tbody></table></div>
        ${this.#models && shown.length === 0 && html`<p class="pad muted" data-key="none">No model of that name. Add it, with the window that its documentation states.</p>`}
      </section>`,
    );
  }

  /** @param {Model} m */
  #row(m) {
    if (this.#editing === m.name)
      return html`<tr data-key="${m.name}"><td colspan="6">${this.#form(m)}</td></tr>`;
    const link = /^https?:\/\//.test(m.source);
    return html`<tr data-key="${m.name}"><td class="mono">${m.name}</td>${FIELDS.map(([field]) => html`<td class="num">${m[field] === null || m[field] === undefined ? "–" : number(m[field])}</td>`)}
      <td class="small muted source">${m.overridden ? html`<b>yours</b>` : html`${link ? html`<a class="link" href="${m.source}" rel="noreferrer">${hostOf(m.source)}</a>` : m.source}${m.date && html`, <span class="nowrap">${m.date}</span>`}`}</td>
      <td class="num">${m.overridden && html`<button class="small" data-act="reset-model" data-name="${m.name}" aria-label="Reset ${m.name}">Reset</button> `}<button class="small" data-act="edit" data-name="${m.name}" aria-label="Override ${m.name}">Override</button></td></tr>`;
  }

  /** @param {Model | null} m */
  #form(m) {
    return html`<div class="model-edit">${m ? html`<b class="mono">${m.name}</b>` : html`<label>Model <input type="text" name="model" autocomplete="off" spellcheck="false" placeholder="name or prefix"></label>`}
      ${FIELDS.map(([field, label]) => {
        const fault = this.#faults.find((f) => f.field.endsWith(field));
        return html`<label>${label} <input type="number" name="${field}" value="${m?.[field] ?? ""}" min="1" placeholder="${field === "window" ? "" : "none"}" aria-invalid="${fault ? "true" : "false"}"></label>`;
      })}
      <button class="small primary" data-act="save-model">Save</button><button class="small" data-act="cancel-model">Cancel</button>
      ${this.#faults.map((f) => html`<p class="fault small">${sentence(`${f.field.replace("_", " ")}: ${f.message}`)}</p>`)}</div>`;
  }
}

/** @param {string} url */
function hostOf(url) {
  try {
    return new URL(url).hostname;
  } catch {
    return url;
  }
}

customElements.define("models-table", ModelsTable);
