// Reads the edit script that the server wrote for a session, and notes which one a call is sent with. Installing an
// extension puts this in the place where the extension imports it, because agents load one file.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "HINTS_FOLDER";

function fileOf(session, kind) {
  const name = [...session].map((c) => (/[\p{L}\p{N}._-]/u.test(c) ? c : "_")).join("").slice(0, 200);
  return join(FOLDER, `${name}.${kind}.json`);
}

export function scriptOf(session) {
  try {
    return JSON.parse(readFileSync(fileOf(session, "edits"), "utf8"));
  } catch {
    return null;
  }
}

let noted = "";

/** Note the version of the script that the next call is sent with, "" for none: its usage is that of the edited list. */
export function note(session, version) {
  const file = fileOf(session, "active");
  if (existsSync(file) ? noted === `${session} ${version}` : !version) return;
  try {
    writeFileSync(`${file}.${process.pid}`, JSON.stringify({ version }), { mode: 0o600 });
    renameSync(`${file}.${process.pid}`, file);
    noted = `${session} ${version}`;
  } catch {
    // the call is sent without the note
  }
}
