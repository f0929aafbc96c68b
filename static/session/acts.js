// What the session page does to a session when it is asked to: each act is told in a toast, a failure too.
import { api } from "../shared/api.js";
import { typeName } from "../shared/task-types.js";
import { toast, toastError } from "../shared/toast.js";
import { strategyName } from "../shared/words.js";

/** @typedef {import("../shared/types.js").Session} Session */

/**
 * Does something to one message.
 * @param {string} session @param {string} id @param {string} act @param {(n: number) => void} undo an operation
 * @returns {Promise<Session | null>} the session afterwards, null where it is as it was
 */
export async function actOn(session, id, act, undo) {
  try {
    if (act === "learn") {
      await api.keep("learnings", { session_id: session, message_id: id });
      toast("Kept as a learning; the memory page has it.");
      return null;
    }
    const { session: changed, message, operation } = await api.act(session, id, act);
    toast(message, operation ? { act: { label: "Undo", run: () => undo(operation.n) } } : {});
    return changed;
  } catch (error) {
    toastError(error, `Could not ${act.replace("-", " ")} the message`);
    return null;
  }
}

/** Switches automatic pruning. @param {string} session @param {boolean} automatic @returns {Promise<Session | null>} */
export async function setAutomatic(session, automatic) {
  try {
    const changed = await api.patchSession(session, { automatic });
    toast(`Automatic pruning is ${automatic ? "on" : "off"} for this session.`);
    return changed;
  } catch (error) {
    toastError(error, "Could not change automatic pruning");
    return null;
  }
}

/**
 * Chooses a task type for one session; "" leaves it to the settings again.
 * @param {string} session @param {string} type @returns {Promise<Session | null>}
 */
export async function setTaskType(session, type) {
  try {
    const changed = await api.patchSession(session, { settings: { task_type: type || null } });
    toast(`This session counts as ${typeName(changed.task_type.name)} now.`);
    return changed;
  } catch (error) {
    toastError(error, "Could not choose the task type");
    return null;
  }
}

/**
 * Chooses the strategy of one session; "" leaves it to the settings again.
 * @param {string} session @param {string} strategy @returns {Promise<Session | null>}
 */
export async function setStrategy(session, strategy) {
  try {
    const changed = await api.patchSession(session, { settings: { strategy: strategy || null } });
    toast(`Plans of this session choose by “${strategyName(changed.strategy.name)}”.`);
    return changed;
  } catch (error) {
    toastError(error, "Could not choose the strategy");
    return null;
  }
}

/** Deletes a session and leaves its page. @param {string} session */
export async function deleteSession(session) {
  try {
    await api.deleteSession(session);
    location.assign("/");
  } catch (error) {
    toastError(error, "Could not delete the session");
  }
}
