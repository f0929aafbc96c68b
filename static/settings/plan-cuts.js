// The cuts at which settings are tried on a session, as shares of its context. Pure.

/** The shares of a context, in percent, for which the number of changed fates is shown. */
export const CUTS = /** @type {const} */ ([80, 50, 25, 10]);

/** The aim as a share of a session's context, in percent. @param {Api.Session} session */
export const aimShare = ({ pruned, aim_tokens }) =>
  Math.min(95, Math.round((100 * aim_tokens) / Math.max(1, pruned.tokens)));

/** The default cut for trying settings, in percent of the context: null for each plan's own aim, or half if a
 * prune to the aim would remove nothing. @param {Api.Session} session */
export const firstCut = (session) => (aimShare(session) <= 75 ? null : 50);

/** Tokens of so many percent of a session's context. @param {Api.Session} session @param {number} percent */
export const tokensAt = ({ pruned }, percent) => Math.max(1, Math.round((pruned.tokens * percent) / 100));
