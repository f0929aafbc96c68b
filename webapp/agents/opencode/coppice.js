// Written by `coppice hooks install`. `coppice hooks uninstall --agent opencode` takes it away.
//
// Applies a session's prunes before each call of the model. The server writes them as an edit script; this reads it at
// the beginning of a turn and keeps to it until the next one, so that a running tool loop and the cached prefix stay as
// they are. Messages are left out or get a shorter output; nothing else is touched, and no credentials are seen. Where
// anything is wrong the call goes out as it came.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "HINTS_FOLDER";

function scriptOf(session) {
  const name = [...session].map((c) => (/[\p{L}\p{N}._-]/u.test(c) ? c : "_")).join("").slice(0, 200);
  try {
    return JSON.parse(readFileSync(join(FOLDER, `${name}.edits.json`), "utf8"));
  } catch {
    return null;
  }
}

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

let active = null;

export const Coppice = async () => ({
  "experimental.chat.messages.transform": async (_input, output) => {
    try {
      const messages = output.messages;
      const asked = messages.findLast(({ info }) => info.role === "user");
      const session = asked?.info.sessionID;
      if (!session) return;
      const begins = messages.at(-1) === asked;
      if (active?.session !== session || begins) {
        const script = scriptOf(session);
        if (active?.session !== session || script?.version !== active?.script?.version)
          active = { session, script, ended: asked.info.id };
      }
      if (!active?.script) return;
      const made = edited(messages, active.script, active.ended);
      if (made.length > 0) messages.splice(0, messages.length, ...made);
    } catch {
      // the call goes out as it came
    }
  },
});
