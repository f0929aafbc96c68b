// The HTTP API; no other module uses fetch. Every call returns the parsed JSON or throws an ApiError, whose
// message can be shown; its `faults` are the wrong fields of a refused form.

/** The path below which a reverse proxy serves the server, "" or like "/coppice". */
export const root = globalThis.document?.documentElement?.dataset.root ?? "";

export class ApiError extends Error {
  /** @param {number} status @param {string} message @param {Api.Detail[]} [faults] */
  constructor(status, message, faults = []) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.faults = faults;
  }
}

/** The longest wait for what is only read. A request over a connection that died may get no answer and no
 * error, and nothing is read again before it ends. */
const PATIENCE_MS = 120_000;
const TOO_LATE = "the server has not answered for two minutes; is the connection lost?";
const NO_ANSWER = "the answer was incomplete, or came from a server between this page and coppice; try again";

/** A request; `token` may be empty.
 * @typedef {{ method: string, body?: unknown, signal?: AbortSignal, token: string }} Sent */

/** Returns the JSON of an answer. @param {string} address @param {Sent} sent @returns {Promise<any>} */
async function request(address, sent) {
  const { answer, data } = await send(address, sent);
  if (answer.ok && data === null) throw new ApiError(0, NO_ANSWER);
  if (answer.ok) return data;
  const message = data?.error?.message ?? `the server answered ${answer.status} ${answer.statusText}`;
  throw new ApiError(answer.status, message, data?.error?.details);
}

/** Returns an answer of any status with its JSON, or null where that is not whole.
 * @param {string} address @param {Sent} sent */
async function send(address, { method, body, signal, token }) {
  const isForm = body instanceof FormData;
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
  if (method !== "GET") headers["X-Coppice"] = "1"; // a form on another site cannot send this header
  if (token) headers.Authorization = `Bearer ${token}`;
  const late = new AbortController();
  const clock = method === "GET" ? setTimeout(() => late.abort(), PATIENCE_MS) : undefined;
  const ended = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  try {
    const content = isForm ? body : JSON.stringify(body);
    const answer = await fetch(address, { method, signal: ended, headers, body: content });
    const data = await answer.json().catch(() => null);
    ended.throwIfAborted();
    return { answer, data };
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ApiError(0, late.signal.aborted ? TOO_LATE : silence(address));
  } finally {
    clearTimeout(clock);
  }
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

/** Values of a query are text, and empty ones are left out; the server refuses unknown ones.
 * @template Q @typedef {{ [K in keyof Q]: Q[K] | string }} Query */
/** @template {keyof Api.Routes} R @typedef {{ query?: Query<Api.Routes[R]["query"]>,
 * body?: Api.Routes[R]["body"], signal?: AbortSignal }} Given */
/** @typedef {Query<Api.MessagesQuery>} PageQuery */
/** @typedef {"memories" | "learnings"} MemoryKind */
/** @typedef {"pin" | "unpin" | "drop" | "drop-first" | "restore"} Act */

/** The API of the server at `base`, by default the one that the page came from. @param {string} [base]
 * @param {string} [token] for a page that has no session with that server */
export function apiAt(base = root, token = "") {
  /** Calls a route; `names` fill the `{}` of its path. @template {keyof Api.Routes} R @param {R} route
   * @param {(string | number)[]} [names] @param {Given<R>} [given]
   * @returns {Promise<Api.Routes[R]["answer"]>} */
  const call = (route, names = [], { query, body, signal } = {}) => {
    const [method = "", path = ""] = route.split(" ");
    const [start, ...rest] = path.split("{}");
    const filled = rest.map((part, n) => encodeURIComponent(names[n] ?? "") + part);
    const address = `${base}/api${start}${filled.join("")}${queryOf(query ?? {})}`;
    return request(address, { method, body, signal, token });
  };
  return {
    /** The role of the token or the sign-in. @param {AbortSignal} [signal] */
    access: (signal) => call("GET /access", [], { signal }),
    /** One page of the sessions. @param {Query<Api.SessionsQuery>} query @param {AbortSignal} [signal] */
    sessions: (query, signal) => call("GET /sessions", [], { query, signal }),
    /** The savings of all sessions. @param {AbortSignal} [signal] */
    savings: (signal) => call("GET /savings", [], { signal }),
    /** @param {string} id @param {Api.SessionChange} body */
    patchSession: (id, body) => call("PATCH /sessions/{}", [id], { body }),
    /** @param {string} id */
    deleteSession: (id) => call("DELETE /sessions/{}", [id], { query: { confirm: id } }),
    /** @param {string} id @param {AbortSignal} [signal] */
    stats: (id, signal) => call("GET /sessions/{}/stats", [id], { signal }),
    /** @param {string} id @param {AbortSignal} [signal] */
    verdict: (id, signal) => call("GET /sessions/{}/verdict", [id], { signal }),
    /** The chart with up to so many points. @param {string} id @param {number} points
     * @param {AbortSignal} [signal] */
    timeline: (id, points, signal) => call("GET /sessions/{}/timeline", [id], { query: { points }, signal }),
    /** @param {string} id @param {PageQuery} query @param {AbortSignal} [signal] */
    messages: (id, query, signal) => call("GET /sessions/{}/messages", [id], { query, signal }),
    /** @param {string} id @param {AbortSignal} [signal] */
    heaviest: (id, signal) => call("GET /sessions/{}/heaviest", [id], { signal }),
    /** The messages of a group of the heaviest that a plan may take. @param {string} id
     * @param {Query<Api.GroupQuery>} group */
    membersOf: async (id, { kind, name }) =>
      (await call("GET /sessions/{}/heaviest/members", [id], { query: { kind, name } })).members,
    /** @param {string} id @param {string} message */
    message: (id, message) => call("GET /sessions/{}/messages/{}", [id, message]),
    /** @param {string} id @param {string} message @param {Act} act */
    act: (id, message, act) => call(`POST /sessions/{}/messages/{}/${act}`, [id, message]),
    /** @param {string} id @param {Api.PlanBody} body @param {AbortSignal} [signal] */
    plan: (id, body, signal) => call("POST /sessions/{}/plan", [id], { body, signal }),
    /** @param {string} id @param {Api.PruneBody} body */
    prune: (id, body) => call("POST /sessions/{}/prune", [id], { body }),
    /** Shortens a context to the usable size, protected messages too. @param {string} id */
    relieve: (id) => call("POST /sessions/{}/overflow", [id], { body: { reported: false } }),
    /** @param {string} id */
    operations: async (id) => (await call("GET /sessions/{}/operations", [id])).operations,
    /** @param {string} id @param {number} n */
    operation: (id, n) => call("GET /sessions/{}/operations/{}", [id, n]),
    /** @param {string} id @param {number} n */
    undo: (id, n) => call("POST /sessions/{}/operations/{}/undo", [id, n]),
    /** @param {string} id @param {string} q @param {AbortSignal} [signal] */
    archive: async (id, q, signal) =>
      (await call("GET /sessions/{}/archive", [id], { query: { q }, signal })).messages,
    /** @param {string} id */
    status: (id) => call("GET /sessions/{}/status", [id]),
    /** @param {string} id */
    summaries: async (id) => (await call("GET /sessions/{}/summaries", [id])).summaries,
    /** @param {string} id */
    summarize: (id) => call("POST /sessions/{}/summarize", [id], { body: {} }),
    /** @param {string} id */
    cancelSummary: (id) => call("POST /sessions/{}/summarize/cancel", [id], { body: {} }),
    /** @param {string} id @param {number} n */
    expandSummary: (id, n) => call("POST /sessions/{}/summaries/{}/expand", [id, n], { body: {} }),
    /** Proposed learnings of one session, or of the recently active ones. @param {string} [id] */
    proposals: async (id) =>
      (await (id ? call("GET /sessions/{}/proposals", [id]) : call("GET /proposals"))).proposals,
    /** @param {string} text @param {boolean} [again] propose it again */
    dismissProposal: (text, again = false) =>
      call(`POST /proposals/${again ? "again" : "dismiss"}`, [], { body: { text } }),
    /** @param {MemoryKind} kind @param {string} q @param {AbortSignal} [signal] */
    memories: async (kind, q, signal) => {
      const found = await call(`GET /${kind}`, [], { query: { q }, signal });
      return "memories" in found ? found.memories : found.learnings;
    },
    /** @param {MemoryKind} kind @param {Api.NewMemory} body */
    keep: (kind, body) => call(`POST /${kind}`, [], { body }),
    /** @param {MemoryKind} kind @param {number} id @param {string} text */
    rewrite: (kind, id, text) => call(`PATCH /${kind}/{}`, [id], { body: { text } }),
    /** @param {MemoryKind} kind @param {number} id */
    forget: (kind, id) => call(`DELETE /${kind}/{}`, [id]),
    /** @param {Query<Api.SearchQuery>} query @param {AbortSignal} [signal] */
    search: (query, signal) => call("GET /search", [], { query, signal }),
    /** @param {string} id @param {Api.ResumeBody} body */
    resume: (id, body) => call("POST /sessions/{}/resume", [id], { body }),
    settings: () => call("GET /settings"),
    /** @param {Api.AnySettings} body */
    saveSettings: (body) => call("PUT /settings", [], { body }),
    suggestWeights: () => call("POST /settings/suggest", [], { body: {} }),
    models: async () => (await call("GET /models")).models,
    /** @param {string} name @param {Api.ModelRow} body */
    saveModel: (name, body) => call("PUT /models/{}", [name], { body }),
    /** @param {string} name */
    deleteModel: (name) => call("DELETE /models/{}", [name]),
    webhooks: () => call("GET /webhooks"),
    /** @param {Api.NewWebhook} body */
    addWebhook: (body) => call("POST /webhooks", [], { body }),
    /** @param {number} id @param {Api.WebhookChange} body */
    changeWebhook: (id, body) => call("PATCH /webhooks/{}", [id], { body }),
    /** @param {number} id */
    deleteWebhook: (id) => call("DELETE /webhooks/{}", [id]),
    /** @param {number} id */
    rotateWebhook: (id) => call("POST /webhooks/{}/rotate", [id], { body: {} }),
    /** @param {number} id */
    testWebhook: (id) => call("POST /webhooks/{}/test", [id], { body: {} }),
    /** @param {number} id */
    deliveries: async (id) => (await call("GET /webhooks/{}/deliveries", [id])).deliveries,
    /** @param {number} id @param {number} delivery */
    sendAgain: (id, delivery) => call("POST /webhooks/{}/deliveries/{}/again", [id, delivery], { body: {} }),
    retention: () => call("GET /retention"),
    /** @param {Api.SessionLimits} body */
    saveRetention: (body) => call("PUT /retention", [], { body }),
    /** @param {Api.SessionLimits} body */
    previewRetention: (body) => call("POST /retention/preview", [], { body }),
    /** @param {Api.ConfirmedDeletion} body */
    applyRetention: (body) => call("POST /retention/apply", [], { body }),
    /** @param {File} file */
    importFile: (file) => {
      const body = new FormData();
      body.append("file", file, file.name);
      return call("POST /import", [], { body });
    },
    startDemo: () => call("POST /demo"),
  };
}

export const api = apiAt();
