// <coppice-settings></coppice-settings>
//
// Every weight and threshold, edited as one draft: what it would do is shown on a real session at once, saving checks it
// as a whole and puts faults beside their fields. Nothing changes without Save.
import "./models-table.js";
import "./weight-suggestion.js";
import "./what-if.js";
import { ApiError, api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted } from "../shared/format.js";
import { html } from "../shared/html.js";
import { problem } from "../shared/problem.js";
import { render } from "../shared/render.js";
import { live } from "../shared/socket.js";
import { ALL, placeOf } from "../shared/task-types.js";
import { toast, toastError } from "../shared/toast.js";
import { title } from "../shared/words.js";
import {
  automaticSection,
  keepSection,
  keywordsSection,
  lengthSection,
  limitsSection,
  otherSection,
  plainSection,
  rolesSection,
  weightsSection,
} from "./form.js";
import { typesSection } from "./type-choice.js";
import { changedFields, copy, typed, valueAt, withValue, wordsOf } from "./values.js";

/** @typedef {import("../shared/types.js").Settings} Settings */
/** @typedef {import("../shared/types.js").SettingsDoc} SettingsDoc */

export class CoppiceSettings extends CoppiceElement {
  /** @type {SettingsDoc | null} */
  #doc = null;
  /** @type {Settings | null} */
  #draft = null;
  /** @type {import("../shared/types.js").Fault[]} */
  #faults = [];
  /** Settings that were saved elsewhere while this draft was open. @type {SettingsDoc | null} */
  #elsewhere = null;
  #saving = false;
  /** The task type whose weights and keywords are shown. */
  #type = ALL;
  /** @type {string | null} */
  #error = null;

  start() {
    live.join("overview");
    this.listen(live, "resync", () => this.#doc && api.settings().then((doc) => this.#changedElsewhere(doc)));
    this.listen(live, "settings:changed", (/** @type {CustomEvent} */ event) =>
      this.#changedElsewhere(event.detail),
    );
    this.listen(this, "input", (/** @type {Event} */ event) =>
      this.#input(/** @type {HTMLInputElement} */ (event.target)),
    );
    this.listen(this, "faults", (/** @type {CustomEvent} */ event) => {
      this.#faults = event.detail;
      this.requestUpdate();
    });
    this.listen(this, "weights", (/** @type {CustomEvent} */ event) =>
      this.#edit("weights", () => event.detail),
    );
    this.listen(this, "submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#save();
    });
    this.listen(window, "beforeunload", (/** @type {BeforeUnloadEvent} */ event) => {
      if (this.#changes.length > 0) event.preventDefault();
    });
    this.actions({
      preset: (target) => this.#take(this.#doc?.presets[target.dataset.name ?? ""]),
      defaults: () => this.#take(this.#doc?.defaults),
      discard: () => this.#take(this.#doc?.settings),
      save: () => this.#save(),
      elsewhere: () => this.#adopt(this.#elsewhere),
      "retry-settings": () => this.#load(),
      "add-group": () =>
        this.#edit(this.#keywords, (list) => [...list, { name: "new group", share: 0.4, words: [] }]),
      type: (target) => this.#show(target.dataset.type ?? ALL),
      own: (target) => {
        const field = target.dataset.field ?? "";
        this.#edit(`task_types.${this.#type}.${field}`, () => structuredClone(this.#draft?.[field]));
      },
      follow: (target) => this.#edit(`task_types.${this.#type}.${target.dataset.field}`, () => null),
      "drop-group": (target) =>
        this.#edit(this.#keywords, (/** @type {unknown[]} */ list) =>
          list.filter((_, i) => i !== Number(target.dataset.i)),
        ),
      "add-step": () => this.#edit("length_steps", (list) => [...list, [(list.at(-1)?.[0] ?? 0) + 5000, 1]]),
      "drop-step": (target) =>
        this.#edit("length_steps", (/** @type {unknown[]} */ list) =>
          list.filter((_, i) => i !== Number(target.dataset.i)),
        ),
    });
    this.#load();
  }

  async #load() {
    try {
      this.#adopt(await api.settings());
      this.#error = null;
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  get #changes() {
    return this.#doc && this.#draft ? changedFields(this.#draft, this.#doc.settings) : [];
  }

  /** @param {SettingsDoc | null} doc */
  #adopt(doc) {
    if (!doc) return;
    this.#doc = doc;
    this.#draft = copy(doc.settings);
    this.#elsewhere = null;
    this.#faults = [];
    this.update();
    this.#fillWords();
    const tried = this.#whatIf;
    if (tried) {
      tried.settings = null;
      tried.refresh();
    }
  }

  /** @returns {import("./what-if.js").WhatIf | null} */
  get #whatIf() {
    return this.querySelector("what-if");
  }

  /** @param {any} doc */
  #changedElsewhere(doc) {
    if (!doc?.settings || this.#saving || !this.#doc) return;
    if (changedFields(doc.settings, this.#doc.settings).length === 0) return;
    if (this.#changes.length === 0) {
      this.#adopt(doc);
      toast("The settings were changed elsewhere; this page shows them.");
    } else this.#elsewhere = doc;
    this.requestUpdate();
  }

  /** @param {Settings | undefined} settings */
  #take(settings) {
    if (!settings) return;
    this.#draft = copy(settings);
    this.#faults = [];
    this.update();
    this.#fillWords();
    this.#tryDraft();
  }

  /** Where the keywords that are shown stand. */
  get #keywords() {
    return this.#draft ? placeOf(this.#draft, this.#type, "keywords").path : "keywords";
  }

  /** Shows the weights and keywords of a task type. @param {string} type */
  #show(type) {
    this.#type = type;
    this.update();
    this.#fillWords();
  }

  /** Shows the type with a fault, where none of what is shown has one. */
  #showFault() {
    const at = this.#faults.map(({ field }) => /^task_types\.(\w+)\./.exec(field)?.[1]);
    if (at[0] && !at.includes(undefined) && !at.includes(this.#type)) this.#show(at[0]);
  }

  /** @param {string} path @param {(value: any) => unknown} change */
  #edit(path, change) {
    if (!this.#draft) return;
    this.#draft = withValue(this.#draft, path, change(valueAt(this.#draft, path)));
    this.update();
    this.#fillWords();
    this.#tryDraft();
  }

  /** @param {HTMLInputElement} field */
  #input(field) {
    if (!this.#draft || !field.name || field.closest("models-table, what-if")) return;
    /** @type {unknown} */
    let value = field.value;
    if (field.type === "checkbox") value = field.checked;
    else if (field.type === "number" || field.type === "range")
      value = typed(field.value, field.name === "cap_tokens");
    else if (field.name.endsWith(".words") || Array.isArray(this.#draft[field.name]))
      value = wordsOf(field.value);
    this.#draft = withValue(this.#draft, field.name, value);
    this.requestUpdate();
    this.#tryDraft();
  }

  #tryDraft() {
    const tried = this.#whatIf;
    if (tried) tried.settings = this.#changes.length > 0 ? this.#draft : null;
  }

  /** A textarea has no value attribute: its text is set when the draft is replaced, never while it is typed. */
  #fillWords() {
    for (const area of this.querySelectorAll("textarea")) area.value = area.dataset.words ?? "";
  }

  async #save() {
    if (!this.#draft || this.#saving) return;
    this.#saving = true;
    const sent = this.#draft;
    try {
      const doc = await api.saveSettings(sent);
      if (this.#draft === sent) this.#adopt(doc);
      else this.#doc = doc; // more was typed meanwhile: it stays, and is not saved yet
      toast("Settings saved. Open pages use them now.");
    } catch (error) {
      if (error instanceof ApiError && error.faults.length) {
        this.#faults = error.faults;
        this.update();
        this.#showFault();
        /** @type {HTMLElement | null} */ (this.querySelector('[aria-invalid="true"]'))?.focus();
      } else toastError(error, "Could not save the settings");
    }
    this.#saving = false;
    this.requestUpdate();
  }

  update() {
    const [doc, draft] = [this.#doc, this.#draft];
    if (!doc || !draft)
      return render(
        this,
        this.#error
          ? problem("Could not read the settings", this.#error, "retry-settings")
          : html`<p class="muted">Reading…</p>`,
      );
    const form = { settings: draft, faults: this.#faults, limits: doc.limits, type: this.#type };
    const changes = this.#changes;
    const preset =
      Object.keys(doc.presets).find(
        (name) => changedFields(draft, /** @type {Settings} */ (doc.presets[name])).length === 0,
      ) ?? "custom";
    render(
      this,
      html`<div class="page-head" data-key="head"><h1>Settings</h1><span class="muted">for all sessions; a session's own settings come first</span><span class="end"><button class="small" data-act="defaults">Reset to defaults</button></span></div>
        <div class="toolbar" data-key="presets"><span class="muted">Preset</span><div class="chips" role="group" aria-label="Preset">${Object.keys(doc.presets).map((name) => html`<button class="chip" data-act="preset" data-name="${name}" aria-pressed="${name === preset ? "true" : "false"}">${name}</button>`)}${preset === "custom" && html`<button class="chip" aria-pressed="true" disabled>Custom</button>`}</div></div>
        ${this.#elsewhere && html`<p class="note-box" data-key="elsewhere" role="status">The settings were changed elsewhere while you were editing. <button class="small" data-act="elsewhere">Show those</button></p>`}
        <div class="settings-columns" data-key="columns"><form class="settings-form" novalidate><button type="submit" hidden tabindex="-1"></button>
          <div>${typesSection(form)}${weightsSection(form)}${rolesSection(form)}${keywordsSection(form)}${lengthSection(form)}${plainSection(form, "tool_outputs")}</div><div>${limitsSection(form)}${keepSection(form)}${plainSection(form, "stages")}${automaticSection(form)}${plainSection(form, "room")}${plainSection(form, "summaries")}${plainSection(form, "context")}${otherSection(form)}</div>
        </form><div class="settings-side"><what-if></what-if></div></div>
        
        <models-table data-key="models"></models-table>
        <div class="save-bar" data-key="save" data-shown="${changes.length > 0 ? "true" : "false"}" ${changes.length > 0 ? "" : html`hidden`}><span role="status">${this.#faults.length > 0 ? html`<span class="fault">${counted(this.#faults.length, "field")} ${this.#faults.length === 1 ? "is" : "are"} wrong</span>` : html`Not saved: ${changes.map((name) => title(name).toLowerCase()).join(", ")}`}</span><button data-act="discard">Discard</button><button class="primary" data-act="save" ${this.#saving ? html`disabled` : ""}>Save</button></div>`,
    );
  }
}

customElements.define("coppice-settings", CoppiceSettings);
