// <models-table></models-table>
//
// The limits of all models with source and date; a row can be overridden, and a model added. Follows
// `models:changed`.
import { ApiError, api } from "../shared/api.js";
import { number, sentence } from "../shared/format.js";
import { html, keyed } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { focusOn } from "../shared/keys.js";
import { sourceOf } from "../shared/parts.js";
import { READING } from "../shared/problem.js";
import { ReadingElement } from "../shared/reading-element.js";
import { live } from "../shared/socket.js";
import { toast, toastError } from "../shared/toast.js";
import { typed } from "./values.js";

/** @type {["window" | "input_limit" | "output_limit", string][]} */
const FIELDS = [
  ["window", "Window"],
  ["input_limit", "Input limit"],
  ["output_limit", "Output limit"],
];

const NONE = html`<p class="pad muted">
  No model of that name. Add it, with the window that its documentation states.
</p>`;
/** @param {boolean} isWrong */
const newName = (isWrong) => html`<label class="beside">
  Model <input type="text" name="model" autocomplete="off" spellcheck="false" placeholder="name or prefix"
    aria-invalid=${isWrong}>
</label>`;

class ModelsTable extends ReadingElement {
  readsOnceJoined = true;
  /** @type {Api.Model[] | null} */
  #models = null;
  #q = "";
  /** The model in the form; "" for a new one. @type {string | null} */
  #editing = null;
  /** @type {Api.Detail[]} */
  #faults = [];

  start() {
    this.actions({
      edit: (target) => this.#edit(target.dataset.name ?? ""),
      "cancel-model": () => this.#edit(null),
      "save-model": () => this.#save(),
      "reset-model": (target) => this.#reset(target.dataset.name ?? ""),
    });
    this.asTyped((q) => {
      this.#q = q;
      this.requestUpdate();
    });
    this.formKeys(
      () => this.#save(),
      () => this.#edit(null),
    );
    this.hear(live, ["models:changed"], () => this.refresh());
    super.start();
  }

  async read() {
    this.#models = await api.models();
  }

  /** @param {string | null} name */
  #edit(name) {
    this.#editing = name;
    this.#faults = [];
    this.update();
    if (name !== null) focusOn(this.#input(".model-edit input"));
  }

  /** @param {string} selector @returns {HTMLInputElement | null} */
  #input(selector) {
    return this.querySelector(selector);
  }

  async #save() {
    const editing = this.#editing;
    if (editing === null) return;
    /** @param {string} name */
    const field = (name) => this.#input(`.model-edit [name="${name}"]`)?.value ?? "";
    const name = editing || field("model").trim();
    if (!name) return this.#refuse([{ field: "model", message: "expected a model's name" }]);
    const limits = FIELDS.map(([limit]) => [limit, typed(field(limit), true)]);
    try {
      await api.saveModel(name, Object.fromEntries(limits));
      if (this.#editing === editing) this.#editing = null;
      toast(`${name} has your limits now.`);
      await this.refresh();
    } catch (error) {
      if (error instanceof ApiError && error.faults.length) this.#refuse(error.faults);
      else toastError(error, `Could not save ${name}`);
    }
    this.requestUpdate();
  }

  /** @param {Api.Detail[]} faults */
  #refuse(faults) {
    this.#faults = faults;
    this.update();
    focusOn(this.#input('[aria-invalid="true"]'));
  }

  /** @param {string} name */
  async #reset(name) {
    await this.act(`Could not reset ${name}`, async () => {
      await api.deleteModel(name);
      return `${name} has the limits of the table again.`;
    });
  }

  template() {
    const q = this.#q.trim().toLowerCase();
    const shown = (this.#models ?? []).filter((m) => m.name.toLowerCase().includes(q));
    const none = this.#models !== null && shown.length === 0;
    /** @param {Api.Model} m */
    const row = (m) =>
      html`<tr>${m.name === this.#editing ? html`<td colspan="6">${this.#form(m)}</td>` : cells(m)}</tr>`;
    return html`<section class="panel group-box" id="models" aria-labelledby="models-title">
      <header>
        <h2 id="models-title">Models</h2>
        <span class="muted small">windows in tokens</span>
        <span class="end beside models-tools">
          <input type="search" .value=${this.#q} placeholder="Find a model" aria-label="Find a model">
          <button class="small" data-act="edit" data-name="">${icon("plus")}Add</button>
        </span>
      </header>
      ${this.problem("Could not read the models")}
      ${this.#editing === "" && html`<div class="pad">${this.#form(null)}</div>`}
      <div class="models-scroll" ?hidden=${none}><table class="models">
        <thead>
          <tr>
            <th>Model</th>
            ${FIELDS.map(([, label]) => html`<th class="num">${label}</th>`)}
            <th>Source</th>
            <th><span class="sr">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          ${keyed(shown, "name", row)}
        </tbody>
      </table></div>
      ${this.#models ? none && NONE : !this.error && READING}
    </section>`;
  }

  /** @param {Api.Model | null} m */
  #form(m) {
    /** @param {string} name */
    const isWrong = (name) => this.#faults.some(({ field }) => field.endsWith(name));
    return html`<div class="row model-edit">
      ${m ? html`<b class="mono">${m.name}</b>` : newName(isWrong("model"))}
      ${FIELDS.map(
        ([field, label]) => html`<label class="beside"
          >${label}
          <input type="number" name=${field} value=${m?.[field] ?? ""} min="1"
            placeholder=${field === "window" ? "4 × output" : "none"}
            aria-invalid=${isWrong(field)}></label>`,
      )}
      <button class="small primary" data-act="save-model">Save</button>
      <button class="small" data-act="cancel-model">Cancel</button>
      ${this.#faults.map(
        ({ field, message }) =>
          html`<p class="fault small">${sentence(`${field.replace("_", " ")}: ${message}`)}</p>`,
      )}
    </div>`;
  }
}

const YOURS = html`<b>yours</b>`;

/** @param {Api.Model} m */
function cells(m) {
  /** @param {string} act @param {string} label */
  const button = (act, label) =>
    html`<button class="small" data-act=${act} data-name=${m.name} aria-label="${label} ${m.name}"
      >${label}</button>`;
  return html`<td class="mono">${m.name}</td>
    ${FIELDS.map(([field]) => html`<td class="num">${m[field] === null ? "–" : number(m[field])}</td>`)}
    <td class="small muted source">${sourceOf(m.overridden ? { ...m, source: YOURS } : m)}</td>
    <td class="num">${m.overridden && button("reset-model", "Reset")} ${button("edit", "Override")}</td>`;
}

customElements.define("models-table", ModelsTable);
