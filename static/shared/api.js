// The HTTP API; no other module uses fetch. Every call returns the parsed JSON or throws an ApiError, whose
// message can be shown; its `faults` are the wrong fields of a refused form.
import { root } from "./root.js";

export class ApiError extends Error {
  /** @param {number} status @param {string} message @param {Api.Detail[]} [faults] */
  constructor(status, message, faults = []) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.faults = faults;
  }
}

const NO_ANSWER = "the answer was incomplete, or came from a server between this page and coppice; try again";

/** @param {string} address @param {string} method @param {unknown} [body] @param {AbortSignal} [signal]
 * @param {string} [token] @returns {Promise<any>} */
async function request(address, method, body, signal, token) {
  const isForm = body instanceof FormData;
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
  if (method !== "GET") headers["X-Coppice"] = "1"; // a form on another site cannot send this header
  if (token) headers.Authorization = `Bearer ${token}`;
  let answer;
  try {
    answer = await fetch(address, { method, signal, headers, body: isForm ? body : JSON.stringify(body) });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiError(0, silence(address));
  }
  const data = await answer.json().catch(() => null);
  signal?.throwIfAborted();
  if (answer.ok && data === null) throw new ApiError(0, NO_ANSWER);
  if (answer.ok) return data;
  const message = data?.error?.message ?? `the server answered ${answer.status} ${answer.statusText}`;
  throw new ApiError(answer.status, message, data?.error?.details);
}

/** Returns a text about a request without an answer. Browsers hide the cause from pages of other sites, so it
 * names both possible ones. @param {string} address */
function silence(address) {
  const here = globalThis.location?.origin;
  if (!here || new URL(address, here).origin === here)
    return "the server does not answer; is coppice still running?";
  const server = new URL(address).origin;
  const asked = `is coppice running, with --allow-origin ${here}?`;
  return `the server at ${server} does not answer pages of ${here}; ${asked}`;
}

/** @param {object} query */
function queryOf(query) {
  const filled = Object.entries(query).filter(([, v]) => v !== null && v !== undefined && v !== "");
  return filled.length ? `?${new URLSearchParams(filled.map(([k, v]) => [k, String(v)]))}` : "";
}

/** @param {string} id */
const at = (id) => `/sessions/${encodeURIComponent(id)}`;
/** @param {string} id @param {string} message */
const messageAt = (id, message) => `${at(id)}/messages/${encodeURIComponent(message)}`;

/** @typedef {{ offset?: number, limit?: number, first?: number, last?: number, role?: string, tool?: string,
 * fate?: string, q?: string, sort?: string, plan_id?: string, at_once?: boolean, without_parts?: boolean,
 * brief?: boolean }} PageQuery */
/** @typedef {"memories" | "learnings"} MemoryKind */

/** The API of the server at `base`, by default the one that the page came from. @param {string} [base]
 * @param {string} [token] for a page that has no session with that server */
export function apiAt(base = root, token = "") {
  /** @param {string} path @param {AbortSignal} [signal] */
  const get = (path, signal) => request(`${base}/api${path}`, "GET", undefined, signal, token);
  /** @param {string} path @param {unknown} [body] @param {AbortSignal} [signal] */
  const post = (path, body, signal) => request(`${base}/api${path}`, "POST", body, signal, token);
  /** @param {string} method @param {string} path @param {unknown} [body] */
  const change = (method, path, body) => request(`${base}/api${path}`, method, body, undefined, token);
  return {
    /** One page of the sessions. @param {{ limit: number, after?: string | null, sort?: string }} query
     * @param {AbortSignal} [signal] @returns {Promise<Api.Sessions>} */
    sessions: (query, signal) => get(`/sessions${queryOf(query)}`, signal),
    /** The savings of all sessions. @param {AbortSignal} [signal]
     * @returns {Promise<Api.Savings>} */
    savings: (signal) => get("/savings", signal),
    /** @param {string} id @param {Api.SessionChange} data @returns {Promise<Api.Session>} */
    patchSession: (id, data) => change("PATCH", at(id), data),
    /** @param {string} id @returns {Promise<Api.Ok>} */
    deleteSession: (id) => change("DELETE", `${at(id)}?confirm=${encodeURIComponent(id)}`),
    /** @param {string} id @param {AbortSignal} [signal] @returns {Promise<Api.Stats>} */
    stats: (id, signal) => get(`${at(id)}/stats`, signal),
    /** @param {string} id @param {AbortSignal} [signal] @returns {Promise<Api.Verdict>} */
    verdict: (id, signal) => get(`${at(id)}/verdict`, signal),
    /** The chart with up to so many points. @param {string} id @param {number} points
     * @param {AbortSignal} [signal] @returns {Promise<Api.Timeline>} */
    timeline: (id, points, signal) => get(`${at(id)}/timeline${queryOf({ points })}`, signal),
    /** @param {string} id @param {PageQuery} query @param {AbortSignal} [signal]
     * @returns {Promise<Api.Page>} */
    messages: (id, query, signal) => get(`${at(id)}/messages${queryOf(query)}`, signal),
    /** @param {string} id @param {AbortSignal} [signal] @returns {Promise<Api.Heaviest>} */
    heaviest: (id, signal) => get(`${at(id)}/heaviest`, signal),
    /** The messages of a group of the heaviest that a plan may take. @param {string} id
     * @param {{ kind: string, name: string }} group @returns {Promise<Api.GroupMember[]>} */
    membersOf: async (id, { kind, name }) =>
      (await get(`${at(id)}/heaviest/members?${new URLSearchParams({ kind, name })}`)).members,
    /** @param {string} id @param {string} message @returns {Promise<Api.MessageFull>} */
    message: (id, message) => get(messageAt(id, message)),
    /** Does one of pin, unpin, drop, drop-first and restore. @param {string} id @param {string} message
     * @param {string} act @returns {Promise<Api.Applied>} */
    act: (id, message, act) => post(`${messageAt(id, message)}/${act}`),
    /** @param {string} id @param {Api.PlanBody} body @param {AbortSignal} [signal]
     * @returns {Promise<Api.Plan>} */
    plan: (id, body, signal) => post(`${at(id)}/plan`, body, signal),
    /** @param {string} id @param {Api.PruneBody} body @returns {Promise<Api.Applied>} */
    prune: (id, body) => post(`${at(id)}/prune`, body),
    /** Shortens a context to the usable size, protected messages too. @param {string} id
     * @returns {Promise<Api.Relieved>} */
    relieve: (id) => post(`${at(id)}/overflow`, { reported: false }),
    /** @param {string} id @returns {Promise<Api.Operation[]>} */
    operations: async (id) => (await get(`${at(id)}/operations`)).operations,
    /** @param {string} id @param {number} n @returns {Promise<Api.OperationFull>} */
    operation: (id, n) => get(`${at(id)}/operations/${n}`),
    /** @param {string} id @param {number} n @returns {Promise<Api.Undone>} */
    undo: (id, n) => post(`${at(id)}/operations/${n}/undo`),
    /** @param {string} id @param {string} q @param {AbortSignal} [signal]
     * @returns {Promise<Api.Message[]>} */
    archive: async (id, q, signal) => (await get(`${at(id)}/archive${queryOf({ q })}`, signal)).messages,
    /** @param {string} id @returns {Promise<Api.Status>} */
    status: (id) => get(`${at(id)}/status`),
    /** @param {string} id @returns {Promise<Api.SummaryAnswer[]>} */
    summaries: async (id) => (await get(`${at(id)}/summaries`)).summaries,
    /** @param {string} id @returns {Promise<Api.Summarised>} */
    summarize: (id) => post(`${at(id)}/summarize`, {}),
    /** @param {string} id @returns {Promise<{ message?: string }>} */
    cancelSummary: (id) => post(`${at(id)}/summarize/cancel`, {}),
    /** @param {string} id @param {number} n @returns {Promise<{ message: string }>} */
    expandSummary: (id, n) => post(`${at(id)}/summaries/${n}/expand`, {}),
    /** Proposed learnings of one session, or of the recently active ones. @param {string} [session]
     * @returns {Promise<Api.Proposal[]>} */
    proposals: async (session) => (await get(`${session ? at(session) : ""}/proposals`)).proposals,
    /** @param {string} text @param {boolean} [again] propose it again */
    dismissProposal: (text, again = false) => post(`/proposals/${again ? "again" : "dismiss"}`, { text }),
    /** @param {MemoryKind} kind @param {string} q @param {AbortSignal} [signal]
     * @returns {Promise<Api.Memory[]>} */
    memories: async (kind, q, signal) => (await get(`/${kind}${queryOf({ q })}`, signal))[kind],
    /** @param {MemoryKind} kind @param {Api.NewMemory} data @returns {Promise<Api.Memory>} */
    keep: (kind, data) => post(`/${kind}`, data),
    /** @param {MemoryKind} kind @param {number} id @param {string} text @returns {Promise<Api.Memory>} */
    rewrite: (kind, id, text) => change("PATCH", `/${kind}/${id}`, { text }),
    /** @param {MemoryKind} kind @param {number} id */
    forget: (kind, id) => change("DELETE", `/${kind}/${id}`),
    /** @param {{ q: string, session?: string, role?: string, tool?: string, since?: string, until?: string,
     * after?: number | null }} query @param {AbortSignal} [signal] @returns {Promise<Api.Results>} */
    search: (query, signal) => get(`/search${queryOf(query)}`, signal),
    /** @param {string} id @param {Api.ResumeBody} body @returns {Promise<Api.Resumed>} */
    resume: (id, body) => post(`${at(id)}/resume`, body),
    /** @returns {Promise<Api.SettingsDoc>} */
    settings: () => get("/settings"),
    /** @param {unknown} settings @returns {Promise<Api.SettingsDoc>} */
    saveSettings: (settings) => change("PUT", "/settings", settings),
    /** @returns {Promise<Api.Suggestion>} */
    suggestWeights: () => post("/settings/suggest", {}),
    /** @returns {Promise<Api.Model[]>} */
    models: async () => (await get("/models")).models,
    /** @param {string} name @param {unknown} data */
    saveModel: (name, data) => change("PUT", `/models/${encodeURIComponent(name)}`, data),
    /** @param {string} name */
    deleteModel: (name) => change("DELETE", `/models/${encodeURIComponent(name)}`),
    /** @returns {Promise<Api.Webhooks>} */
    webhooks: () => get("/webhooks"),
    /** @param {Api.NewWebhook} data @returns {Promise<Api.WebhookSecret>} */
    addWebhook: (data) => post("/webhooks", data),
    /** @param {number} id @param {Api.WebhookChange} data @returns {Promise<Api.Webhook>} */
    changeWebhook: (id, data) => change("PATCH", `/webhooks/${id}`, data),
    /** @param {number} id */
    deleteWebhook: (id) => change("DELETE", `/webhooks/${id}`),
    /** @param {number} id @returns {Promise<Api.WebhookSecret>} */
    rotateWebhook: (id) => post(`/webhooks/${id}/rotate`, {}),
    /** @param {number} id @returns {Promise<Api.Deliveries>} */
    testWebhook: (id) => post(`/webhooks/${id}/test`, {}),
    /** @param {number} id @returns {Promise<Api.Delivery[]>} */
    deliveries: async (id) => (await get(`/webhooks/${id}/deliveries`)).deliveries,
    /** @param {number} id @param {number} delivery @returns {Promise<Api.Delivery>} */
    sendAgain: (id, delivery) => post(`/webhooks/${id}/deliveries/${delivery}/again`, {}),
    /** @returns {Promise<Api.Retention>} */
    retention: () => get("/retention"),
    /** @param {Api.SessionLimits} limits @returns {Promise<Api.Retention>} */
    saveRetention: (limits) => change("PUT", "/retention", limits),
    /** @param {Api.SessionLimits} limits @returns {Promise<Api.Retention>} */
    previewRetention: (limits) => post("/retention/preview", limits),
    /** @param {Api.LimitsApplied} confirmed @returns {Promise<Api.Retention>} */
    applyRetention: (confirmed) => post("/retention/apply", confirmed),
    /** @param {File} file @returns {Promise<Api.Imported>} */
    importFile: (file) => {
      const form = new FormData();
      form.append("file", file, file.name);
      return post("/import", form);
    },
    /** @returns {Promise<Api.Session>} */
    startDemo: () => post("/demo"),
  };
}

export const api = apiAt();
