// Two plans for the same cut compared: the messages whose fate differs, and the rank of those that go. Pure.

/** A message in both plans. `text` is its first line; scores and fates are those of the two plans.
 * @typedef {{ id: string, number: number, text: string, role: string, tokens: number,
 * scores: (number | null)[], fates: string[], reason: string }} Compared */
/** @typedef {Map<string, { fate: string, score: number | null, reason: string | null }>} Fates */

/** @param {Api.Plan} plan */
function fatesOf({ removed, shortened, kept }) {
  /** @type {Fates} */
  const fates = new Map(kept.map((one) => [one.id, { ...one, fate: "kept" }]));
  for (const one of shortened) fates.set(one.id, { ...one, fate: "shortened" });
  for (const one of removed) fates.set(one.id, { ...one, fate: "goes" });
  return fates;
}

/** The messages that both plans show, those that either takes out or shortens. @param {Api.Plan} saved
 * @param {Api.Plan} tried @returns {Compared[]} by their place in the session */
export function compared(saved, tried) {
  const [before, after] = [fatesOf(saved), fatesOf(tried)];
  const shown = new Map(
    [saved, tried]
      .flatMap(({ removed, shortened }) => [...removed, ...shortened])
      .map((one) => [one.id, one]),
  );
  return [...shown.values()]
    .filter(({ id }) => before.has(id) && after.has(id))
    .map((one) => {
      const both = [before.get(one.id), after.get(one.id)];
      return {
        id: one.id,
        number: one.number,
        text: (one.text || (one.calls[0]?.summary ?? "")).split("\n", 1)[0] ?? "",
        role: one.role,
        tokens: one.tokens,
        scores: both.map((place) => place?.score ?? null),
        fates: both.map((place) => place?.fate ?? ""),
        reason: both[1]?.reason ?? "",
      };
    })
    .sort((a, b) => a.number - b.number);
}

/** The messages whose fate differs, the largest first. @param {Compared[]} all */
export const swapped = (all) =>
  all.filter(({ fates: [a, b] }) => a !== b).sort((a, b) => b.tokens - a.tokens || a.number - b.number);

/** The messages that one of the plans removes, the lowest score first. @param {Compared[]} all
 * @param {0 | 1} which the saved plan or the tried one */
export const ranked = (all, which) =>
  all
    .filter(({ fates }) => fates[which] === "goes")
    .sort((a, b) => (a.scores[which] ?? 0) - (b.scores[which] ?? 0) || a.number - b.number);

/** The number of `total` messages that are not shown if at most `most` of a list are. The list may itself
 * lack some, because a plan has its first rows only.
 * @param {number} total @param {Compared[]} list @param {number} most */
export const moreThan = (total, list, most) => Math.max(0, total - Math.min(list.length, most));

/** The part of a ranked list that is shown: the messages whose fate differs, and those with the highest
 * scores. @param {Compared[]} list @param {number} most */
export function nearTheCut(list, most) {
  /** @param {Compared} one */
  const swaps = ({ fates: [a, b] }) => Number(a !== b);
  const chosen = new Set(
    [...list]
      .reverse()
      .sort((a, b) => swaps(b) - swaps(a))
      .slice(0, most),
  );
  return list.filter((one) => chosen.has(one));
}
