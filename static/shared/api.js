// The HTTP API, and the only place that knows fetch. Every call answers the parsed JSON or throws ApiError, whose
// message is fit to be shown; `faults` holds the wrong fields of a 422.

/** @typedef {import("./types.js").Session} Session */
/** @typedef {import("./types.js").Fault} Fault */

export class ApiError extends Error {
  /** @param {number} status @param {string} message @param {Fault[]} faults @param {string} type */
  constructor(status, message, faults, type) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.faults = faults;
    this.type = type;
  }
}

/** @param {unknown} details @returns {Fault[]} */
function faultsOf(details) {
  if (!Array.isArray(details)) return [];
  return details
    .filter((one) => typeof one === "object" && one !== null)
    .map((one) => ({
      field: String(one.field ?? (Array.isArray(one.loc) ? one.loc.join(".") : "")),
      message: String(one.message ?? one.msg ?? one.reason ?? ""),
    }));
}

/** @param {string} address @param {string} method @param {unknown} [body] @param {AbortSignal} [signal]
 * @returns {Promise<any>} */
async function request(address, method, body, signal) {
  /** @type {RequestInit} */
  const init = { method, signal, headers: { Accept: "application/json" } };
  if (body instanceof FormData) init.body = body;
  else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, "Content-Type": "application/json" };
  }
  let answer;
  try {
    answer = await fetch(address, init);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiError(0, "the server does not answer; is coppice still running?", [], "unreachable");
  }
  const data = await answer.json().catch(() => null);
  if (answer.ok) return data;
  const error = data?.error ?? {};
  const message = error.message ?? `the server answered ${answer.status} ${answer.statusText}`;
  throw new ApiError(answer.status, message, faultsOf(error.details), error.type ?? "error");
}

/** @param {Record<string, unknown>} query */
function queryOf(query) {
  const filled = Object.entries(query).filter(([, v]) => v !== null && v !== undefined && v !== "");
  return filled.length ? `?${new URLSearchParams(filled.map(([k, v]) => [k, String(v)]))}` : "";
}

/** @param {string} id */
const at = (id) => `/sessions/${encodeURIComponent(id)}`;

/** How far a session is from its next summary. @typedef {{ triggers: { name: string, text: string, percent: number
 * | null }[], running: boolean, made: string, last_summary: { text: string, at: string } | null, line: string }}
 * Status */
/** What stands for messages.
 * @typedef {{ id: number, text: string, note: string, depth: number, messages: number, tokens: number,
 * replaced_tokens: number, model: string | null, cost: number | null, standing: boolean, at: string }}
 * Summary */
/** A memory or learning.
 * @typedef {{ id: number, text: string, session_id: string | null, message_id: string | null, created_at: string,
 * updated_at: string }}
 * Kept */
/** What might be kept as a learning.
 * @typedef {{ text: string, session_id: string, session_title: string, message_id: string, number: number, at:
 * string | null }}
 * Proposal */
/** @typedef {{ after?: string | number | null, limit?: number, role?: string, fate?: string, q?: string, sort?:
 * string, plan_id?: string, at_once?: boolean }}
 * PageQuery */
/** @typedef {{ max_tokens?: number, strategy?: string, settings?: unknown, spare?: string[], drop?: string[],
 * shorten?: string[], compare?: boolean }}
 * PlanRequest */

/** The API of the server at `base`, by default the one that the page came from. @param {string} [base] */
export function apiAt(base = "") {
  /** @param {string} method @param {string} path @param {unknown} [body] @param {AbortSignal} [signal] */
  const call = (method, path, body, signal) => request(`${base}/api${path}`, method, body, signal);
  return {
    /** @returns {Promise<Session[]>} */
    sessions: async () => (await call("GET", "/sessions")).sessions,
    /** @param {string} id @returns {Promise<Session>} */
    session: (id) => call("GET", at(id)),
    /** @param {string} id @param {Record<string, unknown>} data @returns {Promise<Session>} */
    patchSession: (id, data) => call("PATCH", at(id), data),
    /** @param {string} id @returns {Promise<unknown>} */
    deleteSession: (id) => call("DELETE", `${at(id)}?confirm=${encodeURIComponent(id)}`),
    /** @param {string} id @param {AbortSignal} [signal] @returns {Promise<import("./types.js").Stats>} */
    stats: (id, signal) => call("GET", `${at(id)}/stats`, undefined, signal),
    /** @param {string} id @param {AbortSignal} [signal] @returns {Promise<import("./types.js").Timeline>} */
    timeline: (id, signal) => call("GET", `${at(id)}/timeline`, undefined, signal),
    /** @param {string} id @param {PageQuery} query @param {AbortSignal} [signal]
     * @returns {Promise<import("./types.js").Page>} */
    messages: (id, query, signal) => call("GET", `${at(id)}/messages${queryOf(query)}`, undefined, signal),
    /** @param {string} id @param {string} message @returns {Promise<import("./types.js").MessageFull>} */
    message: (id, message) => call("GET", `${at(id)}/messages/${encodeURIComponent(message)}`),
    /** pin, unpin, drop, drop-first or restore. @param {string} id @param {string} message @param {string} act
     * @returns {Promise<import("./types.js").Applied>} */
    act: (id, message, act) => call("POST", `${at(id)}/messages/${encodeURIComponent(message)}/${act}`),
    /** @param {string} id @param {PlanRequest} request @param {AbortSignal} [signal]
     * @returns {Promise<import("./types.js").Plan>} */
    plan: (id, request, signal) => call("POST", `${at(id)}/plan`, request, signal),
    /** @param {string} id @param {{ plan_id?: string, max_tokens?: number }} request
     * @returns {Promise<import("./types.js").Applied>} */
    prune: (id, request) => call("POST", `${at(id)}/prune`, request),
    /** @param {string} id @returns {Promise<import("./types.js").Operation[]>} */
    operations: async (id) => (await call("GET", `${at(id)}/operations`)).operations,
    /** @param {string} id @param {number} n @returns {Promise<import("./types.js").OperationFull>} */
    operation: (id, n) => call("GET", `${at(id)}/operations/${n}`),
    /** @param {string} id @param {number} n @returns {Promise<import("./types.js").Undone>} */
    undo: (id, n) => call("POST", `${at(id)}/operations/${n}/undo`),
    /** @param {string} id @param {string} q @param {AbortSignal} [signal]
     * @returns {Promise<import("./types.js").Message[]>} */
    archive: async (id, q, signal) =>
      (await call("GET", `${at(id)}/archive${queryOf({ q })}`, undefined, signal)).messages,
    /** @returns {Promise<import("./types.js").SettingsDoc>} */
    settings: () => call("GET", "/settings"),
    /** @param {unknown} settings @returns {Promise<import("./types.js").SettingsDoc>} */
    saveSettings: (settings) => call("PUT", "/settings", settings),
    /** @returns {Promise<import("./types.js").SettingsDoc>} */
    resetSettings: () => call("POST", "/settings/reset"),
    /** @returns {Promise<import("./types.js").Suggestion>} */
    suggestWeights: () => call("POST", "/settings/suggest", {}),
    /** @returns {Promise<import("./types.js").Model[]>} */
    models: async () => (await call("GET", "/models")).models,
    /** @param {string} name @param {unknown} data */
    saveModel: (name, data) => call("PUT", `/models/${encodeURIComponent(name)}`, data),
    /** @param {string} name */
    deleteModel: (name) => call("DELETE", `/models/${encodeURIComponent(name)}`),
    /** @param {string} q @param {AbortSignal} [signal] @returns {Promise<import("./types.js").Hit[]>} */
    search: async (q, signal) => (await call("GET", `/search${queryOf({ q })}`, undefined, signal)).results,
    /** @param {"memories" | "learnings"} kind @param {string} q @param {AbortSignal} [signal]
     * @returns {Promise<Kept[]>} */
    kept: async (kind, q, signal) =>
      (await call("GET", `/${kind}${queryOf({ q })}`, undefined, signal))[kind],
    /** Cuts a context to what is usable, inside what is protected, too. @param {string} id
     * @returns {Promise<import("./types.js").Applied>} */
    relieve: (id) => call("POST", `${at(id)}/overflow`, { reported: false }),
    /** What might be kept as learnings, of one session or of the latest. @param {string} [session]
     * @returns {Promise<Proposal[]>} */
    proposals: async (session) =>
      (await call("GET", session ? `/sessions/${encodeURIComponent(session)}/proposals` : "/proposals"))
        .proposals,
    /** @param {string} text @param {boolean} [again] */
    dismissProposal: (text, again = false) =>
      call("POST", `/proposals/${again ? "again" : "dismiss"}`, { text }),
    /** @param {"memories" | "learnings"} kind @param {{ text?: string, session_id?: string, message_id?: string }}
     * data @returns {Promise<Kept>} */
    keep: (kind, data) => call("POST", `/${kind}`, data),
    /** @param {"memories" | "learnings"} kind @param {number} id @param {string} text @returns {Promise<Kept>} */
    rewrite: (kind, id, text) => call("PATCH", `/${kind}/${id}`, { text }),
    /** @param {"memories" | "learnings"} kind @param {number} id */
    forget: (kind, id) => call("DELETE", `/${kind}/${id}`),
    /** @param {string} id @returns {Promise<Status>} */
    status: (id) => call("GET", `${at(id)}/status`),
    /** @param {string} id @returns {Promise<Summary[]>} */
    summaries: async (id) => (await call("GET", `${at(id)}/summaries`)).summaries,
    /** @param {string} id @returns {Promise<{ message: string }>} */
    summarize: (id) => call("POST", `${at(id)}/summarize`, {}),
    /** @param {string} id @returns {Promise<{ message?: string }>} */
    cancelSummary: (id) => call("POST", `${at(id)}/summarize/cancel`, {}),
    /** @param {string} id @param {number} n @returns {Promise<{ message: string }>} */
    expandSummary: (id, n) => call("POST", `${at(id)}/summaries/${n}/expand`, {}),
    /** @param {File} file @returns {Promise<import("./types.js").ImportResult>} */
    importFile: (file) => {
      const form = new FormData();
      form.append("file", file, file.name);
      return call("POST", "/import", form);
    },
    /** @returns {Promise<Session>} */
    startDemo: () => call("POST", "/demo"),
  };
}

export const api = apiAt();
