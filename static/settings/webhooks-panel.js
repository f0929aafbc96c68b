// <webhooks-panel></webhooks-panel>
//
// The webhooks: addresses that get events, each with its log. A secret is shown only once, when it is made.
// Follows `webhooks:changed`.
import { ApiError, api } from "../shared/api.js";
import { ask } from "../shared/ask.js";
import { copyText } from "../shared/copy.js";
import { counted, sentence, timeOfDay } from "../shared/format.js";
import { html, keyed } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { focusOn } from "../shared/keys.js";
import { READING } from "../shared/problem.js";
import { ReadingElement } from "../shared/reading-element.js";
import { pageOf } from "../shared/session-facts.js";
import { live } from "../shared/socket.js";
import { agoTime } from "../shared/times.js";
import { toast, toastError } from "../shared/toast.js";

const NONE = html`<p class="pad muted">
  No webhooks. Add one, and each prune, each summary and each session above its target is posted to it as
  JSON, signed so that the receiver can tell who sent it.
</p>`;

class WebhooksPanel extends ReadingElement {
  readsOnceJoined = true;
  /** @type {Api.Webhooks | null} */
  #doc = null;
  /** The webhook in the form; 0 for a new one. @type {number | null} */
  #editing = null;
  /** @type {Api.WebhookSecret | null} */
  #made = null;
  /** The webhook whose log is open, and the log once it is read.
   * @type {{ id: number, deliveries: Api.Delivery[] | null } | null} */
  #log = null;
  /** @type {Api.Detail[]} */
  #faults = [];
  #saving = false;

  start() {
    /** @param {HTMLElement} target */
    const idOf = (target) => Number(target.dataset.id);
    this.actions({
      "edit-webhook": (target) => this.#edit(idOf(target)),
      "cancel-webhook": () => this.#edit(null),
      "save-webhook": () => this.#save(),
      "webhook-log": (target) => this.#open(idOf(target)),
      "hide-secret": () => this.#show(null),
      copy: copyText,
      "pause-webhook": (target) =>
        this.act("Could not change it", () =>
          api.changeWebhook(idOf(target), { active: target.dataset.active !== "true" }),
        ),
      "test-webhook": (target) => this.#test(idOf(target)),
      "rotate-webhook": (target) => this.#rotate(idOf(target)),
      "delete-webhook": (target) => this.#delete(idOf(target)),
      "send-again": (target) =>
        this.act("Could not send it again", () =>
          api.sendAgain(Number(target.dataset.webhook), idOf(target)),
        ),
    });
    this.formKeys(
      () => this.#save(),
      () => this.#edit(null),
    );
    this.hear(live, ["webhooks:changed"], () => this.refresh());
    super.start();
  }

  async read() {
    this.#doc = await api.webhooks();
    const id = this.#log?.id;
    const open = this.#doc.webhooks.find((hook) => hook.id === id);
    const deliveries = open ? await api.deliveries(open.id) : null;
    if (this.#log?.id === id) this.#log = open && deliveries ? { id: open.id, deliveries } : null;
  }

  /** @param {number | null} id */
  #edit(id) {
    this.#editing = id;
    this.#faults = [];
    this.update();
    if (id !== null) this.#toForm();
  }

  /** Brings the whole form into view, with the focus in its first field. */
  #toForm() {
    const form = this.querySelector(".webhook-edit");
    form?.scrollIntoView({ block: "nearest" });
    focusOn(form?.querySelector("input"), { preventScroll: true });
  }

  /** @param {Api.WebhookSecret | null} made */
  #show(made) {
    this.#made = made;
    this.update();
  }

  /** @param {number} id */
  async #open(id) {
    this.#log = this.#log?.id === id ? null : { id, deliveries: null };
    this.requestUpdate();
    await this.refresh();
  }

  /** @param {number} id */
  async #test(id) {
    await this.act("Could not send a test", () => api.testWebhook(id));
    if (this.#log?.id !== id) await this.#open(id);
  }

  /** Asks before something is done to a webhook. @param {number} id @param {string} yes what is done
   * @param {string} what to what @param {string} follows in a sentence */
  async #asks(id, yes, what, follows) {
    const hook = this.#doc?.webhooks.find((one) => one.id === id);
    const text = hook && html`<p class="mono webhook-url">${hook.url}</p><p>${follows}</p>`;
    return text && (await ask({ title: `${yes} this ${what}?`, text, yes }));
  }

  /** @param {number} id */
  async #rotate(id) {
    const follows =
      "Messages are signed with the new one at once; the receiver refuses them until it has it.";
    if (await this.#asks(id, "Replace", "secret", follows))
      await this.act("Could not replace the secret", async () => this.#show(await api.rotateWebhook(id)));
  }

  /** @param {number} id */
  async #delete(id) {
    const follows = "Its log and the messages that wait are deleted. This cannot be undone.";
    if (!(await this.#asks(id, "Delete", "webhook", follows))) return;
    await this.act("Could not delete it", () => api.deleteWebhook(id));
    if (this.#made?.webhook.id === id) this.#show(null);
  }

  async #save() {
    const id = this.#editing;
    if (id === null || this.#saving) return;
    this.#saving = true;
    const url = /** @type {HTMLInputElement} */ (this.querySelector(".webhook-edit [name=url]")).value.trim();
    const boxes = /** @type {NodeListOf<HTMLInputElement>} */ (
      this.querySelectorAll(".webhook-edit [name=event]")
    );
    const events = [...boxes].filter((box) => box.checked).map((box) => box.value);
    try {
      if (id === 0) this.#made = await api.addWebhook({ url, events });
      else await api.changeWebhook(id, { url, events });
      this.#edit(null);
      if (id !== 0) toast("Webhook saved.");
      await this.refresh();
    } catch (error) {
      if (error instanceof ApiError && error.faults.length) this.#faults = error.faults;
      else toastError(error, "Could not save the webhook");
      this.update();
      if (this.#faults.length > 0) this.#toForm();
    }
    this.#saving = false;
  }

  template() {
    if (this.error instanceof ApiError && this.error.status === 403) return html``; // not for viewers
    const hooks = this.#doc?.webhooks ?? [];
    return html`<section class="panel group-box" id="webhooks" aria-labelledby="webhooks-title">
      <header>
        <h2 id="webhooks-title">Webhooks</h2>
        <span class="muted small">events for other programs</span>
        <span class="end"
          ><button class="small" data-act="edit-webhook" data-id="0" ?disabled=${!this.#doc}
            >${icon("plus")}Add webhook</button></span>
      </header>
      ${this.problem("Could not read the webhooks")} ${this.#made && secretBox(this.#made)}
      ${this.#editing === 0 && this.#form(null)}
      ${keyed(hooks, "id", (hook) => this.#row(hook))}
      ${this.#doc ? hooks.length === 0 && this.#editing === null && NONE : !this.error && READING}
    </section>`;
  }

  /** @param {Api.Webhook} hook */
  #row(hook) {
    if (hook.id === this.#editing) return this.#form(hook);
    const open = this.#log?.id === hook.id;
    /** @param {string} act @param {string} label @param {string} [pressed] */
    const button = (act, label, pressed = "") =>
      html`<button class="small" data-act=${act} data-id=${hook.id} data-active=${pressed}
        aria-label="${label}: ${hook.url}">${label}</button>`;
    return html`<article class="stack webhook" data-active=${hook.active}>
      <div class="webhook-about">
        <b class="mono webhook-url">${hook.url}</b>
        <span class="muted small">${hook.events.map(wordsOf).join(", ")}</span>
        ${stateOf(hook)}
      </div>
      <div class="row tight">
        <button class="small" data-act="webhook-log" data-id=${hook.id} aria-expanded=${open}
          aria-label="Log: ${hook.url}">${icon(open ? "down" : "right")}Log</button>
        ${hook.active && button("test-webhook", "Send a test")}
        ${button("pause-webhook", hook.active ? "Pause" : "Resume", `${hook.active}`)}
        ${button("edit-webhook", "Edit")} ${button("rotate-webhook", "New secret…")}
        ${button("delete-webhook", "Delete…")}
      </div>
      ${open && this.#logOf(hook)}
    </article>`;
  }

  /** @param {Api.Webhook} hook */
  #logOf(hook) {
    const rows = this.#log?.deliveries ?? null;
    if (rows === null) return html`<div class="small webhook-log">${!this.error && READING}</div>`;
    if (rows.length === 0) return html`<p class="small muted webhook-log">Nothing was sent yet.</p>`;
    /** @param {Api.Delivery} one */
    const row = (one) => html`<tr>
      <td class="small nowrap">${agoTime(one.at)}</td>
      <td class="mono small">${one.event}</td>
      <td class="small webhook-session">
        ${one.session_id ? html`<a class="link" href=${pageOf(one.session_id)}>${one.session_id}</a>` : "–"}
      </td>
      <td class="small" data-state=${one.state}>${resultOf(one)}</td>
      <td class="num">
        ${
          hook.active &&
          html`<button class="small" data-act="send-again" data-id=${one.id} data-webhook=${hook.id}
            aria-label="Send again: ${one.message_id}">Send again</button>`
        }
      </td>
    </tr>`;
    return html`<div class="webhook-log models-scroll"><table>
      <thead><tr>
        <th>When</th><th>Event</th><th class="webhook-session">Session</th><th>Result</th>
        <th><span class="sr">Actions</span></th>
      </tr></thead>
      <tbody>${keyed(rows, "id", row)}</tbody>
    </table></div>`;
  }

  /** @param {Api.Webhook | null} hook */
  #form(hook) {
    const wrong = this.#faults.some(({ field }) => field === "url");
    const faults = this.#faults.map(
      ({ message }) => html`<p class="fault small" role="alert">${sentence(message)}</p>`,
    );
    return html`<div class="stack webhook-edit">
      <label class="stack tight">Address
        <input type="text" inputmode="url" name="url" .value=${hook?.url ?? ""} placeholder="https://…"
          autocomplete="off" spellcheck="false" aria-invalid=${wrong}></label>
      ${wrong && faults}
      <fieldset class="stack tight">
        <legend class="muted small">Events</legend>
        ${(this.#doc?.events ?? []).map(
          ({ name, meaning }) => html`<label class="webhook-event">
            <input type="checkbox" name="event" value=${name}
              .checked=${hook ? hook.events.includes(name) : true}>
            <span>${sentence(meaning)} <span class="mono small muted">${name}</span></span>
          </label>`,
        )}
      </fieldset>
      ${!wrong && faults}
      <div>
        <button class="small primary" data-act="save-webhook">${hook ? "Save" : "Add"}</button>
        <button class="small" data-act="cancel-webhook">Cancel</button>
      </div>
    </div>`;
  }
}

/** @param {Api.WebhookSecret} made */
function secretBox({ webhook, secret }) {
  return html`<div class="row note-box webhook-secret" role="status">
    <p>The secret that signs messages to <span class="mono">${webhook.url}</span>. It is not shown again.</p>
    <code>${secret}</code>
    <button class="small primary" data-act="copy" data-text=${secret} data-said="Secret copied."
      >${icon("copy")}Copy</button>
    <button class="small" data-act="hide-secret">Done</button>
  </div>`;
}

/** @param {Api.Webhook} hook */
function stateOf({ active, waiting, last }) {
  const said = [
    !active && html`<span>paused</span>`,
    last &&
      html`<span data-state=${last.state}>${resultOf(last)}
        ${last.state !== "waiting" && agoTime(last.tried_at)}</span>`,
    waiting > (last?.state === "waiting" ? 1 : 0) &&
      html`<span>${counted(waiting, "message")} ${waiting === 1 ? "waits" : "wait"}</span>`,
  ].filter(Boolean);
  const words = said.length > 0 ? said : "nothing was sent yet";
  return html`<span class="row small webhook-state">${words}</span>`;
}

/** @param {Api.Delivery} one */
function resultOf({ state, tries, problem, next_try_at }) {
  if (state === "delivered") return html`${icon("done")} delivered${tries > 1 && ` after ${tries} tries`}`;
  const tried = problem ? `${problem}, ${tries === 1 ? "1 try" : `${tries} tries`}` : "not tried yet";
  if (state === "failed") return html`${icon("error")} failed: ${tried}`;
  const next = next_try_at && problem ? html`; next try ${timeOfDay(next_try_at, Date.now())}` : "";
  return html`${icon("waiting")} waiting: ${tried}${next}`;
}

/** @param {string} name */
function wordsOf(name) {
  return name === "context:summarized" ? "summarised" : (name.split(":")[1]?.replace("_", " ") ?? name);
}

customElements.define("webhooks-panel", WebhooksPanel);
