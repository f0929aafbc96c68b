// Written by `coppice hooks install`. `coppice hooks uninstall --agent pi` takes it away.
//
// Applies a session's prunes before each call of the model. The server writes them as an edit script; this reads it at
// the beginning of a turn and keeps to it until the next one, so that a running tool loop and the cached prefix stay as
// they are. Messages are left out or get a shorter output; nothing else is touched, and no credentials are seen. If
// anything fails, the call is sent unchanged. A note beside the script tells the server what the last call was.
import { note, scriptOf } from "../hook_runtime/edit_scripts.js";

/** Return the key of a message in the edit script. */
function keyOf(message) {
  return message.role === "toolResult" ? `toolResult:${message.toolCallId}` : `${message.role}:${message.timestamp}`;
}

/** The key of the last message of the user: thoughts before it belong to turns that have ended. */
function lastAsked(messages) {
  return keyOf(messages.findLast((one) => one.role === "user") ?? messages[0]);
}

const callsOf = (message) =>
  message.role === "assistant" ? message.content.filter((block) => block.type === "toolCall") : [];

/** Whether every call has its result and every result its call. */
function isWhole(messages) {
  const calls = messages.flatMap(callsOf).map((call) => call.id);
  const results = messages.filter((one) => one.role === "toolResult").map((one) => one.toolCallId);
  return calls.length === results.length && calls.every((id) => results.includes(id));
}

function edited(messages, script, ended) {
  const made = [];
  let isOver = messages.some((one) => keyOf(one) === ended);
  for (const message of messages) {
    const key = keyOf(message);
    if (key === ended) isOver = false;
    const edit = script.edits[key];
    for (const text of edit?.before ?? [])
      made.push({ role: "user", content: [{ type: "text", text }], timestamp: message.timestamp });
    if (edit?.drop) continue;
    let content = edit?.output === undefined ? message.content : [{ type: "text", text: edit.output }];
    if (isOver && message.role === "assistant") {
      content = content.filter((block) => block.type !== "thinking");
      if (content.length === 0) continue;
    }
    // A copy, because pi sends its own messages if the edited list is not whole.
    made.push(content === message.content ? message : { ...message, content });
  }
  return made;
}

export default function (pi) {
  let active = null; // { session, script, ended }
  pi.on("context", (event, context) => {
    let session = "";
    try {
      session = context.sessionManager.getSessionId();
      const messages = event.messages;
      const begins = messages.at(-1)?.role === "user";
      if (active?.session !== session || begins) {
        const script = scriptOf(session);
        if (active?.session !== session || script?.version !== active?.script?.version)
          active = { session, script, ended: lastAsked(messages) };
      }
      if (!active.script) {
        note(session, "");
        return undefined;
      }
      const wasWhole = isWhole(messages);
      const isConcerned = messages.some((one) => active.script.edits[keyOf(one)] !== undefined);
      const made = edited(messages, active.script, active.ended);
      const isSent = made.length > 0 && isWhole(made) === wasWhole;
      note(session, isSent && isConcerned ? active.script.version : "");
      return isSent ? { messages: made } : undefined;
    } catch {
      if (session) note(session, "");
      return undefined;
    }
  });
}
