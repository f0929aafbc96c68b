// <coppice-settings></coppice-settings>
//
// Every weight and threshold, found by words, exported, imported, and edited together: their effect is shown
// on a real session at once, saving checks them as a whole and shows faults beside their fields. Nothing
// changes without Save.
import { focusOn } from "../shared/keys.js";
import "./what-if.js";
import * as address from "../shared/address.js";
import { ApiError, api } from "../shared/api.js";
import { download } from "../shared/copy.js";
import { counted } from "../shared/format.js";
import { html } from "../shared/html.js";
import { NOT_LOADED } from "../shared/problem.js";
import { ReadingElement } from "../shared/reading-element.js";
import { live } from "../shared/socket.js";
import { ALL, AUTO } from "../shared/task-types.js";
import { toast, toastError } from "../shared/toast.js";
import { unlessViewing } from "../shared/viewing.js";
import { choicesOf, weighsMessages } from "../shared/words.js";
import { labelOf } from "./fields.js";
import {
  fieldSection,
  keywordsSection,
  lengthSection,
  otherSection,
  rolesSection,
  typesSection,
  weightsSection,
} from "./form.js";
import { placeOf } from "./type-choice.js";
import { changedFields, changesOf, typed, valueAt, withChanges, withValue, wordsOf } from "./values.js";

const DEFAULTS = { find: "", type: ALL };
/** The rows that are found or hidden: a setting, or one row of a list. */
const ROWS = ".setting, .weight, .keyword-group, .step";
const FILE = "coppice-settings.json";
/** Panels below the settings: each is loaded when the reader comes near it, and found by words even before.
 * @type {Record<string, { load: () => Promise<unknown>, words: string }>} */
const BELOW = {
  "models-table": { load: () => import("./models-table.js"), words: "models windows limits prices" },
  "retention-panel": {
    load: () => import("./retention-panel.js"),
    words: "retention delete old sessions age days size",
  },
  "webhooks-panel": {
    load: () => import("./webhooks-panel.js"),
    words: "webhooks events addresses secrets notify",
  },
};
const PANELS = Object.keys(BELOW).join();
const NEAR = { rootMargin: "150px 0px" };
const NONE = html`<p class="nothing" hidden>
  No setting has these words. <button type="button" class="small" data-act="find-all">Show all</button>
</p>`;

class CoppiceSettings extends ReadingElement {
  readsOnceJoined = true;
  /** @type {Api.SettingsDoc | null} */
  #doc = null;
  /** @type {Api.Settings | null} */
  #edited = null;
  /** @type {Api.Detail[]} */
  #faults = [];
  /** Settings that were saved elsewhere while these were being edited. @type {Api.SettingsDoc | null} */
  #elsewhere = null;
  #saving = false;
  /** The words of the settings that are shown. */
  #find = "";
  /** The task type whose weights and keywords are shown. */
  #type = ALL;
  #near = new IntersectionObserver((entries) => this.#loadNear(entries), NEAR);

  start() {
    this.#recall();
    live.join("overview");
    this.listen(window, "popstate", () => {
      this.#recall();
      this.update();
    });
    this.hear(live, ["settings:changed"], (doc) => this.#changedElsewhere(doc));
    this.hear(live, ["models:changed"], () => this.#whatIf?.refresh());
    this.#listenToFields();
    this.#listenToButtons();
    super.start();
  }

  #listenToFields() {
    /** @param {string} type @param {(detail: any, event: Event) => void} act */
    const on = (type, act) =>
      this.listen(this, type, (/** @type {CustomEvent} */ event) => act(event.detail, event));
    on("input", (_, { target }) => this.#readField(/** @type {HTMLInputElement} */ (target)));
    on("change", (_, { target }) => {
      if (target instanceof HTMLInputElement && target.type === "file") this.#import(target);
    });
    on("faults", (faults) => {
      this.#faults = faults;
      this.requestUpdate();
    });
    on("weights", (weights) => this.#edit("weights", () => weights));
    on("submit", (_, event) => {
      event.preventDefault();
      unlessViewing(() => this.#save());
    });
    this.listen(window, "beforeunload", (/** @type {BeforeUnloadEvent} */ event) => {
      if (this.#changes.length > 0) event.preventDefault();
    });
  }

  #listenToButtons() {
    /** @param {HTMLElement} target @returns {(list: unknown[]) => unknown[]} */
    const without = (target) => (list) => list.filter((_, i) => i !== Number(target.dataset.i));
    /** @param {HTMLElement} target */
    const ofType = (target) => `task_types.${this.#type}.${target.dataset.field}`;
    this.actions({
      preset: (target) => this.#replaceEdited(this.#doc?.presets[target.dataset.name ?? ""]),
      defaults: () => this.#replaceEdited(this.#doc?.defaults),
      export: () => download(FILE, "application/json", JSON.stringify(this.#edited, null, 2)),
      import: () => this.querySelector("input[type=file]")?.dispatchEvent(new MouseEvent("click")),
      discard: () => this.#doc && this.#adopt(this.#elsewhere ?? this.#doc),
      save: () => this.#save(),
      "suggest-weights": () => this.#suggest(),
      "find-all": () => this.#search(""),
      elsewhere: () => this.#elsewhere && this.#adopt(this.#elsewhere),
      type: (target) => this.#showType(target.dataset.type ?? ALL, address.step),
      own: (target) =>
        this.#edit(ofType(target), () => structuredClone(valueAt(this.#edited, target.dataset.field ?? ""))),
      follow: (target) => this.#edit(ofType(target), () => null),
      "add-group": () =>
        this.#edit(this.#keywords, (list) => [...list, { name: "new group", share: 0.4, words: [] }]),
      "drop-group": (target) => this.#edit(this.#keywords, without(target)),
      "add-step": () => this.#edit("length_steps", (list) => [...list, [(list.at(-1)?.[0] ?? 0) + 5000, 1]]),
      "drop-step": (target) => this.#edit("length_steps", without(target)),
    });
  }

  /** Takes the choices in the address; an unknown type is ignored. */
  #recall() {
    const { find, type } = address.read(location.search, DEFAULTS);
    const known = choicesOf("task_type").some(({ name }) => name === type && name !== AUTO);
    this.#find = find;
    this.#type = known ? type : ALL;
  }

  stop() {
    this.#near.disconnect();
    super.stop();
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #loadNear(entries) {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting) {
        this.#near.unobserve(target);
        BELOW[target.localName]?.load().catch(() => toastError(NOT_LOADED, "Could not load the panel"));
      }
  }

  /** Loads what suggests weights, which few readers ask for, and lets it suggest some. */
  async #suggest() {
    try {
      await import("./weight-suggestion.js");
      this.querySelector("weight-suggestion")?.ask();
    } catch {
      toastError(NOT_LOADED, "Could not load the suggestion");
    }
  }

  async read() {
    const doc = await api.settings();
    if (this.#doc) this.#changedElsewhere(doc);
    else this.#adopt(doc);
  }

  get #changes() {
    return this.#doc && this.#edited ? changedFields(this.#edited, this.#doc.settings) : [];
  }

  /** Shows settings as they are saved, and drops what was edited. @param {Api.SettingsDoc} doc */
  #adopt(doc) {
    this.#doc = doc;
    this.#edited = structuredClone(doc.settings);
    this.#elsewhere = null;
    this.#faults = [];
    this.update();
    const tried = this.#whatIf;
    if (tried) {
      tried.settings = null;
      tried.refresh();
    }
  }

  get #whatIf() {
    return this.querySelector("what-if");
  }

  /** @param {Api.SettingsDoc} doc */
  #changedElsewhere(doc) {
    if (this.#saving || !this.#doc) return;
    const isOther = changedFields(doc.settings, this.#doc.settings).length > 0;
    if (isOther && this.#changes.length === 0) {
      this.#adopt(doc);
      toast("The settings were changed elsewhere; this page shows them.");
    } else this.#elsewhere = isOther ? doc : null;
    this.requestUpdate();
  }

  /** Edits these settings instead, unsaved. @param {Api.Settings | undefined} settings */
  #replaceEdited(settings) {
    if (!settings) return;
    this.#edited = structuredClone(settings);
    this.#faults = [];
    this.update();
    this.#tryEdited();
  }

  /** The path of the keywords that are shown. */
  get #keywords() {
    return this.#edited ? placeOf(this.#edited, this.#type, "keywords").path : "keywords";
  }

  /** Shows the weights and keywords of a task type. @param {string} type
   * @param {address.Keep} [keep] */
  #showType(type, keep = address.write) {
    this.#type = type;
    keep({ type }, DEFAULTS);
    this.update();
  }

  /** Shows the type with a fault, where nothing that is shown has one. */
  #showFault() {
    const at = this.#faults.map(({ field }) => /^task_types\.(\w+)\./.exec(field)?.[1]);
    if (at[0] && !at.includes(undefined) && !at.includes(this.#type)) this.#showType(at[0]);
  }

  /** @param {string} path @param {(value: any) => unknown} change */
  #edit(path, change) {
    if (!this.#edited) return;
    this.#edited = withValue(this.#edited, path, change(valueAt(this.#edited, path)));
    this.update();
    this.#tryEdited();
  }

  /** @param {string} find */
  #search(find) {
    this.#find = find;
    address.write({ find }, DEFAULTS);
    this.update();
  }

  /** @param {HTMLInputElement} field */
  #readField(field) {
    if (field.closest("models-table, what-if, retention-panel, webhooks-panel")) return;
    if (field.type === "search") return this.#search(field.value);
    if (!this.#edited || !field.name) return;
    /** @type {unknown} */
    let value = field.value;
    if (field.type === "checkbox") value = field.checked;
    else if (field.type === "number" || field.type === "range")
      value = typed(field.value, field.name === "cap_tokens");
    else if (field.name.endsWith(".words") || Array.isArray(valueAt(this.#edited, field.name)))
      value = wordsOf(field.value);
    this.#edited = withValue(this.#edited, field.name, value);
    this.requestUpdate();
    this.#tryEdited();
  }

  update() {
    super.update();
    this.#hideOthers();
  }

  /** Hides the settings and panels that do not have the words that are sought. */
  #hideOthers() {
    const words = this.#find.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const boxes = [...this.querySelectorAll(".settings-form .group-box")];
    const found = boxes.filter((box) => showFound(box, words)).length;
    let below = 0;
    for (const panel of /** @type {NodeListOf<HTMLElement>} */ (this.querySelectorAll(PANELS))) {
      const text = `${BELOW[panel.localName]?.words} ${panel.textContent}`.toLowerCase();
      panel.hidden = !words.every((word) => text.includes(word));
      if (!panel.hidden) below += 1;
      if (!customElements.get(panel.localName)) this.#near.observe(panel);
    }
    this.querySelector(".settings-form .nothing")?.toggleAttribute("hidden", found + below > 0);
    this.querySelector(".settings-columns")?.toggleAttribute("hidden", found === 0 && below > 0);
  }

  /** Takes the settings of a file as unsaved changes. @param {HTMLInputElement} field */
  async #import(field) {
    const file = field.files?.[0];
    field.value = "";
    if (!file || !this.#edited) return;
    try {
      const read = JSON.parse(await file.text());
      const known = Object.keys(this.#edited).filter((name) => name in Object(read));
      if (known.length === 0) throw new Error("it holds no setting; expected a file that Export made");
      this.#replaceEdited({
        ...this.#edited,
        ...Object.fromEntries(known.map((name) => [name, read[name]])),
      });
      toast(`${counted(known.length, "setting")} read from ${file.name}. Save to use them.`);
    } catch (error) {
      toastError(error, `Could not read ${file.name}`);
    }
  }

  #tryEdited() {
    const tried = this.#whatIf;
    if (tried) tried.settings = this.#changes.length > 0 ? this.#edited : null;
  }

  /** Saves what differs, so that the rest keeps what was saved elsewhere meanwhile. */
  async #save() {
    if (!this.#edited || !this.#doc || this.#saving) return;
    this.#saving = true;
    this.requestUpdate();
    const sent = this.#edited;
    const changes = changesOf(sent, this.#doc.settings);
    // Without the aim that is shown, the server lowers it to a lower target.
    if ("target_percent" in changes) changes.aim_percent = sent.aim_percent;
    try {
      const doc = await api.saveSettings(changes);
      const unsaved = changesOf(this.#edited, sent);
      this.#adopt(doc);
      if (Object.keys(unsaved).length > 0) this.#replaceEdited(withChanges(doc.settings, unsaved));
      toast("Settings saved. Open pages use them now.");
    } catch (error) {
      if (error instanceof ApiError && error.faults.length) {
        this.#faults = error.faults;
        this.#search(""); // which may hide a wrong field
        this.#showFault();
        focusOn(this.querySelector('[aria-invalid="true"]'));
      } else toastError(error, "Could not save the settings");
    }
    this.#saving = false;
    this.requestUpdate();
    await this.refresh(); // what others saved meanwhile was not heard
  }

  template() {
    const [doc, edited] = [this.#doc, this.#edited];
    if (!doc || !edited)
      return html`<div class="page-head"><h1>Settings</h1></div>
        ${this.problem("Could not read the settings", doc)}`;
    const { limits, signals } = doc;
    const form = { settings: edited, faults: this.#faults, limits, signals, type: this.#type };
    const [left, right] = columnsOf(edited);
    /** @param {string[]} names */
    const sections = (names) => names.map((name) => fieldSection(form, name));
    return html`<div class="page-head">
        <h1>Settings</h1>
        <span class="muted">for all sessions; a session's own settings come first</span>
        <span class="end">
          <input type="file" accept=".json,application/json" hidden aria-hidden="true" tabindex="-1">
          <button class="small" data-act="import">Import…</button>
          <button class="small" data-act="export">Export</button>
          <button class="small" data-act="defaults">Reset to defaults</button></span>
      </div>
      ${presets(doc, edited, this.#find)}
      ${
        this.#elsewhere &&
        html`<p class="row note-box" role="status">
          The settings were changed elsewhere while you were editing.
          <button class="small" data-act="elsewhere">Show them</button>
        </p>`
      }
      <div class="settings-columns">
        <form class="settings-form" novalidate>
          <button type="submit" hidden tabindex="-1"></button>
          ${NONE}
          <div>
            ${typesSection(form)} ${weightsSection(form)} ${rolesSection(form)} ${keywordsSection(form)}
            ${lengthSection(form)} ${sections(left)}
          </div>
          <div>
            ${sections(right)} ${otherSection(form)}
          </div>
        </form>
        <div class="settings-side"><what-if></what-if></div>
      </div>
      <models-table></models-table>
      <retention-panel></retention-panel>
      <webhooks-panel></webhooks-panel>
      ${this.#saveBar()}`;
  }

  #saveBar() {
    const changes = this.#changes;
    const wrong = this.#faults.length;
    const words =
      wrong > 0
        ? html`<span class="fault">${counted(wrong, "field")} ${wrong === 1 ? "is" : "are"} wrong</span>`
        : `Not saved: ${changes.map(labelOf).join(" · ")}`;
    return html`<div class="beside save-bar" ?hidden=${changes.length === 0}>
      <span role="status">${words}</span>
      <button data-act="discard">Discard</button>
      <button class="primary" data-act="save" aria-disabled=${this.#saving}>Save</button>
    </div>`;
  }
}

/** The sections of fields in each column, so that both are about as long: a strategy that does not read three
 * sections of the left one folds them, which makes room for others. @param {Api.Settings} settings */
function columnsOf({ strategy }) {
  const [own, rest] = [
    ["limits", "keep", "stages", "automatic", "room"],
    ["summaries", "context"],
  ];
  return weighsMessages(strategy) ? [["tool_outputs"], [...own, ...rest]] : [["tool_outputs", ...rest], own];
}

/** Shows the rows of a group that have all words in their text or their name; all where its heading has them.
 * Returns whether any is shown. @param {Element} box @param {string[]} words */
function showFound(box, words) {
  /** @param {Element | null} part @param {string} [more] */
  const has = (part, more = "") => {
    const text = `${part?.textContent ?? ""} ${more}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const whole = has(box.querySelector("h2"));
  let any = whole;
  for (const row of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll(ROWS))) {
    const name = row.querySelector("[name]")?.getAttribute("name") ?? "";
    row.hidden = !whole && !has(row, name.replaceAll("_", " "));
    if (!row.hidden) any = true;
  }
  /** @type {HTMLElement} */ (box).hidden = !any;
  if (words.length > 0 && any && box instanceof HTMLDetailsElement) box.open = true;
  return any;
}

/** The presets; the one that the settings equal is pressed. @param {Api.SettingsDoc} doc
 * @param {Api.Settings} settings @param {string} find */
function presets(doc, settings, find) {
  const names = Object.keys(doc.presets);
  const chosen = names.find(
    (name) => changedFields(settings, /** @type {Api.Settings} */ (doc.presets[name])).length === 0,
  );
  return html`<div class="row toolbar">
    <input type="search" .value=${find} placeholder="Find a setting" aria-label="Find a setting"
      autocomplete="off" spellcheck="false">
    <div class="row chips" role="group" aria-label="Preset">
      <span class="muted">Preset</span>
      ${names.map(
        (name) =>
          html`<button class="chip" data-act="preset" data-name=${name} aria-pressed=${name === chosen}
            >${name}</button>`,
      )}
      ${!chosen && html`<button class="chip" aria-pressed="true" disabled>Custom</button>`}
    </div>
  </div>`;
}

customElements.define("coppice-settings", CoppiceSettings);
