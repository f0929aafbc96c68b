// <resume-dialog></resume-dialog>
//
// Writes a pruned copy of a session and shows the command with which the agent resumes from it.
// `ask(session)` opens it. Emits `resumed` once a copy is written.
import { api } from "../shared/api.js";
import { dialogHead } from "../shared/dialog-head.js";
import { CoppiceElement } from "../shared/element.js";
import { number, percentSet, sentence } from "../shared/format.js";
import { html, withCode } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { focusOn } from "../shared/keys.js";
import { reasonOf } from "../shared/problem.js";
import { mainGauge, pageOf } from "../shared/session-facts.js";
import { aimOf } from "./plan.js";

export class ResumeDialog extends CoppiceElement {
  /** @type {Api.Session | null} */
  #session = null;
  /** @type {Api.Resumed | null} */
  #made = null;
  #error = "";
  #busy = false;

  start() {
    this.actions({
      "close-resume": () => this.#dialog?.close(),
      "write-copy": () => this.#write(),
    });
  }

  /** Opens the dialog for a session as it is now. @param {Api.Session} session */
  ask(session) {
    this.#session = session;
    this.#made = null;
    this.#error = "";
    this.update();
    this.#dialog?.showModal();
  }

  get #dialog() {
    return this.querySelector("dialog");
  }

  async #write() {
    if (!this.#session || this.#busy) return;
    const prune = this.querySelector("input")?.checked ?? false;
    this.#busy = true;
    this.#error = "";
    this.update();
    try {
      this.#made = await api.resume(this.#session.id, { prune });
      this.emit("resumed");
    } catch (error) {
      this.#error = reasonOf(error);
    }
    this.#busy = false;
    this.update();
    focusOn(this.querySelector(".foot button:last-child"));
  }

  template() {
    const session = this.#session;
    return html`<dialog aria-labelledby="resume-title">
      ${dialogHead("resume-title", "Resume from this session", "close-resume")}
      ${session && (this.#made ? written(session, this.#made) : question(session, this.#busy, this.#error))}
    </dialog>`;
  }
}

/** @param {Api.Session} session @param {boolean} busy @param {string} error why no copy was written */
function question(session, busy, error) {
  if (session.why_not_resumed)
    return html`<div class="body"><p>${withCode(sentence(session.why_not_resumed))}</p></div>
      <div class="foot"><button data-act="close-resume">Close</button></div>`;
  const saved = mainGauge(session).tokens - session.pruned.tokens;
  const aim = percentSet(aimOf(session.aim_tokens, session));
  const holds = `The copy holds ${number(session.pruned.tokens)} tokens, ${number(saved)} less on each call.`;
  return html`<div class="body">
      <p>
        ${session.source_label} gets a pruned copy: a new session beside its own, which stays as it is.
        ${saved > 0 ? holds : "Nothing is pruned yet."}
      </p>
      <label class="beside switch"
        ><input type="checkbox" name="prune-first" .checked=${saved <= 0}>First prune to ${aim}, if it is
        above that</label>
      ${error && html`<p class="fault" role="alert">Could not write the copy: ${withCode(error)}</p>`}
    </div>
    <div class="foot">
      <button data-act="close-resume">Not now</button>
      <button class="primary" data-act="write-copy" aria-disabled=${busy}>Write the copy</button>
    </div>`;
}

/** @param {Api.Session} session @param {Api.Resumed} made */
function written(session, made) {
  const saved = made.tokens_before - made.tokens_promised;
  const less = saved > 0 ? `, ${number(saved)} less on each call` : "";
  const isFound = made.import_command.length === 0;
  const page = pageOf(made.session_id);
  const title = isFound ? html`<a class="link" href=${page}>${made.title}</a>` : made.title;
  return html`<div class="body resume">
      <p>
        ${title} is written:
        ${number(made.tokens_promised)} tokens instead of ${number(made.tokens_before)}${less}. Run this in a
        terminal to go on from it:
      </p>
      <code>${made.line}</code>
      <p class="small muted">
        Its page ${isFound ? "" : "is there once the command has imported it, and "}shows what it really
        saves after ${session.source_label}'s first call. The file is
        <span class="mono">${made.path}</span>${
          isFound ? "" : "; it is deleted once it was imported, or after 7 days"
        }
      </p>
    </div>
    <div class="foot">
      <button data-act="close-resume">Close</button>
      <button class="primary" data-act="copy" data-text=${made.line} data-said="Command copied."
        >${icon("copy")}Copy command</button>
    </div>`;
}

customElements.define("resume-dialog", ResumeDialog);
