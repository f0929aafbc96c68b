// The dialog that asks whether to delete a session, loaded when it is first opened.
import { ask } from "../shared/ask.js";
import { counted } from "../shared/format.js";
import { html } from "../shared/html.js";
import { titleOf } from "../shared/session-facts.js";

const UNTOUCHED = html`<p class="muted">
  The agent's own transcript is not touched. Coppice does not follow it again.
</p>`;

/** Asks whether to delete a session. @param {Api.Session} session
 * @param {AbortSignal} signal aborted when somebody else deletes it */
export const askToDelete = (session, signal) =>
  ask({
    title: "Delete this session?",
    text: html`<p><b>${titleOf(session)}</b></p>
      <p>
        Its log of ${counted(session.messages, "message")} and all operations are deleted from Coppice.
        This cannot be undone.
      </p>
      ${session.kind === "followed" && session.source !== "proxy" && UNTOUCHED}`,
    yes: "Delete",
    signal,
  });
