// Facts that pages derive from a session. Pure.

import { root } from "./api.js";
import { inOneLine } from "./format.js";

/** The gauge that decides the state: that of the agent's own context if there is one.
 * @param {Api.Session} session */
export function mainGauge(session) {
  return session.agent ?? session.pruned;
}

/** The certainty of single messages and regions, which no report of usage tells apart.
 * @param {Api.Gauge} gauge */
export const certaintyOfParts = ({ regions, certainty }) => regions[0]?.certainty ?? certainty;

/** Tokens that the agent sends with every call and that are not in the transcript.
 * @param {Api.Session} session */
export function unseenOf(session) {
  return session.agent?.regions.find((region) => region.name === "unseen")?.tokens ?? 0;
}

/** The session that started this one as its sub-agent. A fork goes on by itself.
 * @param {Api.Session} session */
export const startedBy = ({ parent_id, agent_type }) => (agent_type === "fork" ? null : parent_id);

const UUID = /^([0-9a-f]{8})-[0-9a-f-]{27}(?:\.agent-(\w+))?$/i;

/** A session's title, or the beginning of its id. @param {Api.Session} session */
export function titleOf(session) {
  const title = inOneLine(session.title ?? "") || session.id;
  const id = UUID.exec(title);
  if (!id) return title;
  return id[2] ? `Untitled sub-agent ${id[2]}` : `Untitled session ${id[1]}`;
}

/** @param {Api.Session} session */
export function isAboveTarget(session) {
  return session.state === "warning";
}

/** The text of a verdict, without line breaks between a number and its percent sign. @param {string} text */
export const verdictText = (text) => text.replaceAll(" %", "\u202f%");

/** The address of a session's page. @param {string} id */
export const pageOf = (id) => `${root}/sessions/${encodeURIComponent(id)}`;

/** The limits that a gauge shows. The target is computed from its tokens, which a cap may have lowered.
 * @param {Api.Session} session */
export function limitsOf({ limit, window, output_reserve, target_tokens }) {
  const target_percent = (target_tokens / Math.max(1, limit)) * 100;
  return { limit, window, output_reserve, target_tokens, target_percent };
}

/** The value of a <context-gauge>. @param {Api.Session} session @param {Api.Gauge} [gauge] */
export function gaugeOf(session, gauge = mainGauge(session)) {
  return { gauge, limits: limitsOf(session) };
}
