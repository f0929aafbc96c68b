// Reads the edit script that the server wrote for a session, and notes which one a call is sent with. Installing an
// extension puts this in the place where the extension imports it, because agents load one file.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "HINTS_FOLDER";

function fileOf(session, kind) {
  const part = (c) => (/[\p{L}\p{N}_.-]/u.test(c) ? c : `%${c.codePointAt(0).toString(16)}%`);
  const name = [...session].map(part).join("");
  const short = Buffer.byteLength(name) > 200 ? `%${createHash("sha256").update(name).digest("hex")}` : name;
  return join(FOLDER, `${short}.${kind}.json`);
}

const isText = (value) => typeof value === "string";
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** True if an edit has the types that the server writes: what it says is sent to the model. */
const isEdit = (edit) =>
  isObject(edit) &&
  ["undefined", "boolean"].includes(typeof edit.drop) &&
  ["undefined", "string"].includes(typeof edit.output) &&
  (edit.before === undefined || (Array.isArray(edit.before) && edit.before.every(isText))) &&
  (edit.outputs === undefined || (isObject(edit.outputs) && Object.values(edit.outputs).every(isText)));

/** The script of a session; null if there is none, or if its file is damaged. */
export function scriptOf(session) {
  try {
    const script = JSON.parse(readFileSync(fileOf(session, "edits"), "utf8"));
    const isWhole = isText(script.version) && isObject(script.edits) && Object.values(script.edits).every(isEdit);
    return isWhole ? script : null;
  } catch {
    return null;
  }
}

let noted = "";

/** Note the version of the script that the next call is sent with, "" for none: its usage is that of the edited list. */
export function note(session, version) {
  try {
    const file = fileOf(session, "active");
    if (existsSync(file) ? noted === `${session} ${version}` : !version) return;
    writeFileSync(`${file}.${process.pid}`, JSON.stringify({ version }), { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
    noted = `${session} ${version}`;
  } catch {
    // the call is sent without the note
  }
}
