// The actions of the session page. Each reports its result, or its failure, in a toast.
import { api, root } from "../shared/api.js";
import { number } from "../shared/format.js";
import { typeName } from "../shared/task-types.js";
import { toast, toastError } from "../shared/toast.js";
import { strategyName } from "../shared/words.js";

/** The act that failed, in words.
 * @type {Record<import("../shared/api.js").Act | "learn", string>} */
const FAILED = {
  pin: "pin the message",
  unpin: "unpin the message",
  drop: "drop the message",
  "drop-first": "choose what goes first",
  restore: "restore the message",
  learn: "keep the message as a learning",
};

/** Acts on one message and offers the undo in a toast. @param {string} session @param {string} id
 * @param {import("../shared/api.js").Act | "learn"} act @param {(n: number) => void} undo an operation
 * @returns {Promise<Api.Session | null>} the session afterwards, null where nothing of it changed */
export async function actOn(session, id, act, undo) {
  try {
    if (act === "learn") {
      await api.keep("learnings", { session_id: session, message_id: id });
      toast("Kept as a learning.");
      return null;
    }
    const { session: changed, message, operation } = await api.act(session, id, act);
    toast(message, operation ? { act: { label: "Undo", run: () => undo(operation.n) } } : {});
    return changed;
  } catch (error) {
    toastError(error, `Could not ${FAILED[act]}`);
    return null;
  }
}

/** The settings that a session can have of its own, by the name of their field; an empty value follows the
 * common settings. @type {Record<string, { what: string, patch: (field: HTMLInputElement) => Record<string,
 * unknown>, said: (session: Api.Session) => string }>} */
const FIELDS = {
  automatic: {
    what: "change automatic pruning",
    patch: ({ checked }) => ({ automatic: checked }),
    said: ({ automatic }) => `Automatic pruning is ${automatic ? "on" : "off"} for this session.`,
  },
  proxy_prunes: {
    what: "switch the proxy",
    patch: ({ checked }) => ({ proxy_prunes: checked }),
    said: ({ proxy }) => `The proxy sends this session ${proxy?.prunes ? "pruned" : "unchanged"}.`,
  },
  kept: {
    what: "keep the session",
    patch: ({ checked }) => ({ kept: checked }),
    said: ({ kept }) => (kept ? "No limit deletes this session." : "Limits can delete this session again."),
  },
  own_strategy: {
    what: "choose the strategy",
    patch: ({ value }) => ({ settings: { strategy: value || null } }),
    said: ({ strategy }) => `Plans of this session choose by “${strategyName(strategy.name)}”.`,
  },
  own_window: {
    what: "set the window",
    patch: ({ value }) => ({ window: value ? Number(value) : null }),
    said: ({ limit }) => `This session is measured against ${number(limit)} tokens now.`,
  },
  own_cap: {
    what: "set the cap",
    patch: ({ value }) => ({ settings: { cap_tokens: value ? Number(value) : null } }),
    said: ({ target_tokens }) => `The target of this session is ${number(target_tokens)} tokens now.`,
  },
  task_type: {
    what: "choose the task type",
    patch: ({ value }) => ({ settings: { task_type: value || null } }),
    said: ({ task_type }) => `This session's task type is ${typeName(task_type.name)} now.`,
  },
};

/** Shows the saved value of a field again, which could not be changed. @param {HTMLInputElement} field */
function restoreField(field) {
  if (field.type === "checkbox") field.checked = !field.checked;
  else field.value = field.dataset.saved ?? "";
}

/** Saves the value of a field for one session. @param {string} session @param {HTMLInputElement} field
 * @returns {Promise<Api.Session | null>} the session afterwards, null where nothing of it changed */
export async function saveField(session, field) {
  const setting = FIELDS[field.name];
  if (!setting) return null;
  try {
    const changed = await api.patchSession(session, setting.patch(field));
    toast(setting.said(changed));
    return changed;
  } catch (error) {
    toastError(error, `Could not ${setting.what}`);
    restoreField(field);
    return null;
  }
}

/** Undoes an operation, by default the last that can be undone. @param {string} session @param {number} [n]
 * @returns {Promise<Api.Undone | null>} null where there is none, or it failed */
export async function undo(session, n) {
  try {
    const found = n ?? (await api.operations(session)).find(({ undoable }) => undoable)?.n;
    if (found !== undefined) return await api.undo(session, found);
    toast("Nothing to undo.");
  } catch (error) {
    toastError(error, "Could not undo");
  }
  return null;
}

/** Deletes a session and leaves its page. @param {string} session */
export async function deleteSession(session) {
  try {
    await api.deleteSession(session);
    location.assign(`${root}/`);
  } catch (error) {
    toastError(error, "Could not delete the session");
  }
}
