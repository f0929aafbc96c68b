// Tells of sessions that cross their target while the page is not looked at: the number of them in the tab's
// title, and a notification where the reader asked for it.
import { recall, remember } from "../shared/preferences.js";
import { isAboveTarget, pageOf, titleOf, verdictText } from "../shared/session-facts.js";

const KEY = "notify";
const TITLE = document.title;

/** True where notifications can be asked for. */
export const canNotify = () => "Notification" in globalThis && Notification.permission !== "denied";

/** True where the reader wants notifications and the browser allows them. */
export const isNotifying = () => canNotify() && Notification.permission === "granted" && recall(KEY) === "on";

/** Turns notifications on, which may ask the reader, or off. */
export async function toggleNotifying() {
  if (isNotifying()) return remember(KEY, null);
  if ((await Notification.requestPermission()) === "granted") remember(KEY, "on");
}

/** Puts the number of sessions above their target into the title of the tab. @param {number} above */
export function badge(above) {
  const title = above > 0 ? `(${above}) ${TITLE}` : TITLE;
  if (document.title !== title) document.title = title;
}

/** Notifies of a session that has just gone above its target. @param {Api.Session | undefined} before
 * @param {Api.Session} now */
export function tellOfCrossing(before, now) {
  if (!before || isAboveTarget(before) || !isAboveTarget(now) || !isNotifying()) return;
  const notice = new Notification(titleOf(now), { body: verdictText(now.verdict.text), tag: now.id });
  notice.addEventListener("click", () => {
    window.focus();
    location.assign(pageOf(now.id));
  });
}
