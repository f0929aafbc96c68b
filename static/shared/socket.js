// The live connection; no other module uses Socket.IO. A room is joined with the last seen revision. After a
// lost connection it is joined again, and the server sends the missed events or a snapshot.
import { io } from "socket.io-client";
import { root } from "./api.js";

/** The wait before joining a room again that the server could not read. */
const RETRY_MS = 2000;

/** @typedef {"connecting" | "live" | "reconnecting"} LiveState */

/** The connection; its state is `live` once all rooms of the page are joined. Fires each event of the server
 * under its own name, as a CustomEvent with the payload as its detail, and three of its own:
 * - `state` when the connection comes or goes;
 * - `resync` with the `snapshot` of a room that was joined, for the first time (`known` false) or after a gap
 *   too long for single events;
 * - `refused` when the room to join does not exist. */
class Live extends EventTarget {
  /** @type {LiveState} */
  state = "connecting";
  /** The time of the last known state while the connection is not live. @type {Date | null} */
  asOf = null;
  /** @type {import("socket.io-client").Socket | null} */
  #socket = null;
  /** @type {Map<string, number | null>} room -> last revision seen */
  #rooms = new Map();
  /** True once the connection was lost. Events since then are unknown even to a room joined later. */
  #wasLost = false;
  /** Events that arrived before the answer to joining their room; an older snapshot must not overwrite them.
   * @type {Map<string, [name: string, payload: any][]>} */
  #early = new Map();
  /** Events that arrived since the last frame; their changes are drawn together.
   * @type {[name: string, payload: any][]} */
  #arrived = [];

  /** @param {string} room */
  join(room) {
    this.open();
    if (this.#rooms.has(room)) return;
    this.#rooms.set(room, null);
    if (this.#socket?.connected) this.#subscribe(room);
  }

  /** @param {string} room */
  leave(room) {
    if (this.#rooms.delete(room)) this.#socket?.emit("unsubscribe", { room });
  }

  /** Starts the connection; joining a room does so too. */
  open() {
    if (this.#socket) return;
    const socket = io({
      path: `${root}/socket.io`,
      transports: ["websocket", "polling"],
      tryAllTransports: true,
      reconnectionDelay: 300,
      reconnectionDelayMax: 2000,
    });
    this.#socket = socket;
    socket.on("connect", () => {
      // Once one worked, a failed websocket means no network; and a page that polls holds a thread.
      if (socket.io.engine.transport.name === "websocket") socket.io.opts.tryAllTransports = false;
      for (const room of this.#rooms.keys()) this.#subscribe(room);
      this.#isLiveOnceJoined();
    });
    socket.on("disconnect", () => {
      this.#wasLost = true;
      this.#early.clear();
      this.#setState("reconnecting");
    });
    socket.on("connect_error", () => this.#setState("reconnecting"));
    socket.io.on("reconnect_attempt", () => this.#setState("reconnecting"));
    socket.onAny((name, payload) => this.#take(name, payload));
    document.addEventListener("visibilitychange", () => this.#give());
  }

  /** Keeps an event until the next frame. A hidden page has no frames and gets it at once.
   * @param {string} name @param {any} payload */
  #take(name, payload) {
    this.#arrived.push([name, payload]);
    if (document.hidden) this.#give();
    else if (this.#arrived.length === 1) requestAnimationFrame(() => this.#give());
  }

  #give() {
    for (const [name, payload] of this.#arrived.splice(0)) this.#receive(name, payload);
  }

  /** @param {string} room */
  #subscribe(room) {
    const revision = this.#rooms.get(room) ?? null;
    const known = revision !== null || this.#wasLost;
    const request = revision === null ? { room } : { room, revision };
    this.#early.set(room, []);
    this.#socket?.emit("subscribe", request, (/** @type {any} */ answer) =>
      this.#caughtUp(room, known, answer),
    );
  }

  /** Joins a room after a while, unless the connection was lost meanwhile: a new one joins all rooms.
   * @param {string} room */
  #subscribeAgain(room) {
    const connection = this.#socket?.id;
    setTimeout(() => {
      if (connection && this.#socket?.id === connection && this.#rooms.has(room)) this.#subscribe(room);
    }, RETRY_MS);
  }

  /** @param {string} room @param {boolean} known @param {any} answer */
  #caughtUp(room, known, answer) {
    this.#give();
    if (typeof answer?.revision === "number" && this.#rooms.has(room)) this.#rooms.set(room, answer.revision);
    const early = this.#early.get(room) ?? [];
    this.#early.delete(room);
    const problem = answer?.error?.type;
    const exists = problem !== "not_found";
    if (!exists) {
      this.#rooms.delete(room); // it can be joined once it is there
      this.#fire("refused", { room });
    } else if (problem) this.#subscribeAgain(room);
    if (answer?.snapshot) this.#fire("resync", { room, snapshot: answer.snapshot, known });
    for (const [name, payload] of early) this.#receive(name, payload);
    if (!problem || !exists) this.#isLiveOnceJoined();
  }

  /** Calls the connection live once every room is joined: nothing that happens from then on is missed. */
  #isLiveOnceJoined() {
    if (this.#early.size === 0 && this.#socket?.connected) this.#setState("live");
  }

  /** @param {string} name @param {any} payload */
  #receive(name, payload) {
    const { room, revision } = payload;
    const early = this.#early.get(room);
    if (early) return void early.push([name, payload]);
    if (this.#rooms.has(room)) this.#rooms.set(room, revision);
    if (name === "sessions:updated")
      for (const session of payload.sessions) this.#fire("session:updated", session);
    else this.#fire(name, payload);
  }

  /** @param {string} name @param {unknown} detail */
  #fire(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** @param {LiveState} state */
  #setState(state) {
    if (this.state === state) return;
    if (this.state === "live") this.asOf = new Date();
    if (state === "live") this.asOf = null;
    this.state = state;
    this.#fire("state", state);
  }
}

export const live = new Live();

/** Calls back whenever the connection is there (again). @param {() => void} act
 * @param {AbortSignal} signal ends it */
export function whenLive(act, signal) {
  live.addEventListener("state", () => live.state === "live" && act(), { signal });
}
