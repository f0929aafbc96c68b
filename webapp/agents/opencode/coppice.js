// Written by `coppice hooks install`. `coppice hooks uninstall --agent opencode` takes it away.
//
// Applies a session's prunes before each call of the model. The server writes them as an edit script; this reads it at
// the beginning of a turn and keeps to it until the next one, so that a running tool loop and the cached prefix stay as
// they are. Messages are left out or get a shorter output; nothing else is touched, and no credentials are seen. If
// anything fails, the call is sent unchanged. A note beside the script tells the server what the last call was.
import { note, scriptOf } from "../hook_runtime/edit_scripts.js";

function partsOf(parts, edit, isOver) {
  const kept = isOver ? parts.filter((part) => part.type !== "reasoning") : parts;
  const outputs = edit?.outputs;
  if (!outputs) return kept;
  return kept.map((part) =>
    part.type === "tool" && outputs[part.callID] !== undefined
      ? { ...part, state: { ...part.state, output: outputs[part.callID], attachments: undefined } }
      : part,
  );
}

function edited(messages, script, ended) {
  const made = [];
  let isOver = messages.some(({ info }) => info.id === ended);
  for (const message of messages) {
    const { info, parts } = message;
    if (info.id === ended) isOver = false;
    const edit = script.edits[info.id];
    if (edit?.drop) continue;
    const before = (edit?.before ?? []).map((text, n) => ({
      type: "text", text, synthetic: true, id: `prt_coppice${n}`, sessionID: info.sessionID, messageID: info.id,
    }));
    const kept = partsOf(parts, edit, isOver && info.role === "assistant");
    if (kept.length > 0) made.push({ info, parts: [...before, ...kept] });
  }
  return made;
}

/** The same over the messages of OpenCode 2: a call's results are messages of their own, named by its id. */
function editedOfSecond(messages, script, ended) {
  const made = [];
  let isOver = messages.some(({ id }) => id === ended);
  let edit;
  let isDropped = false;
  for (const message of messages) {
    if (message.id !== undefined) {
      if (message.id === ended) isOver = false;
      edit = script.edits[message.id];
      isDropped = edit?.drop === true;
      for (const text of edit?.before ?? [])
        if (!isDropped) made.push({ role: "user", content: [{ type: "text", text }] });
    }
    if (isDropped && message.role !== "system") continue;
    const content = message.content
      .filter((part) => !(part.type === "reasoning" && isOver && message.role === "assistant"))
      .map((part) =>
        part.type === "tool-result" && edit?.outputs?.[part.id] !== undefined
          ? { ...part, result: { type: "text", value: edit.outputs[part.id] } }
          : part,
      );
    const isSame = content.length === message.content.length && content.every((part, n) => part === message.content[n]);
    if (isSame) made.push(message);
    else if (content.length > 0)
      made.push(Object.assign(Object.create(Object.getPrototypeOf(message)), message, { content }));
  }
  return made;
}

// By session, because the sub-agents of a session run beside it in one process.
const actives = new Map();

/** The script of a session and the message before which turns have ended: read again when a turn begins, then kept. */
function activeIn(session, asked, begins) {
  let active = actives.get(session);
  if (!active || begins) {
    const script = scriptOf(session);
    if (!active || script?.version !== active.script?.version) active = { script, ended: asked };
    actives.set(session, active);
  }
  return active.script ? active : null;
}

const firstGeneration = async () => ({
  "experimental.chat.messages.transform": async (_input, output) => {
    let session;
    try {
      const messages = output.messages;
      const asked = messages.findLast(({ info }) => info.role === "user");
      session = asked?.info.sessionID;
      if (!session) return;
      const now = activeIn(session, asked.info.id, messages.at(-1) === asked);
      if (!now) return note(session, "");
      const isConcerned = messages.some(({ info }) => now.script.edits[info.id] !== undefined);
      const made = edited(messages, now.script, now.ended);
      note(session, made.length > 0 && isConcerned ? now.script.version : "");
      if (made.length > 0) messages.splice(0, messages.length, ...made);
    } catch {
      if (session) note(session, ""); // the call is sent unchanged
    }
  },
});

/** The plugin of OpenCode 2; newer versions of OpenCode 1 find theirs under `server`. */
const bothGenerations = {
  id: "coppice",
  server: firstGeneration,
  setup: async (context) => {
    await context.session.hook("context", (event) => {
      try {
        if (event.kind !== undefined && event.kind !== "primary") return;
        const asked = event.messages.findLast(({ role, id }) => role === "user" && id !== undefined);
        if (!asked) return;
        const now = activeIn(event.sessionID, asked.id, event.messages.at(-1) === asked);
        if (!now) return note(event.sessionID, "");
        const isConcerned = event.messages.some(({ id }) => now.script.edits[id] !== undefined);
        const made = editedOfSecond(event.messages, now.script, now.ended);
        note(event.sessionID, made.length > 0 && isConcerned ? now.script.version : "");
        if (made.length > 0) event.messages = made;
      } catch {
        note(event.sessionID, ""); // the call is sent unchanged
      }
    });
  },
};

// OpenCode calls every export of a plugin until 1.3, and does not start if one is no function; all of OpenCode 1 takes a
// function. These versions are built with an older Bun than all of OpenCode 2, which takes only an object.
const isBefore = (globalThis.Bun?.version ?? "2").localeCompare("1.3.14", "en", { numeric: true }) < 0;
export default isBefore ? firstGeneration : bothGenerations;
