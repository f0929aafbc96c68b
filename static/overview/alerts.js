// Reports sessions that cross their target while the page is in the background: their number in the tab's
// title, and a notification if the reader turned that on.
import { recall, remember } from "../shared/preferences.js";
import { isAboveTarget, pageOf, titleOf, verdictText } from "../shared/session-facts.js";

const KEY = "notify";
const TITLE = document.title;

/** The browser's permission, as last reported: reading it waits for another process each time.
 * @type {NotificationPermission} */
let permission = "Notification" in globalThis ? Notification.permission : "denied";
navigator.permissions
  ?.query({ name: "notifications" })
  .then((status) =>
    status.addEventListener("change", () => {
      permission = Notification.permission;
    }),
  )
  .catch(() => {}); // a browser that does not report changes: the permission is read once a page

/** True if the browser supports notifications here. */
export const canNotify = () => permission !== "denied";

/** True if the reader turned notifications on and the browser allows them. */
export const isNotifying = () => permission === "granted" && recall(KEY) === "on";

/** Turns notifications on or off; the browser may ask for permission. */
export async function toggleNotifying() {
  if (isNotifying()) return remember(KEY, null);
  permission = await Notification.requestPermission();
  if (permission === "granted") remember(KEY, "on");
}

/** Puts the number of sessions above their target into the title of the tab. @param {number} above */
export function badge(above) {
  const title = above > 0 ? `(${above}) ${TITLE}` : TITLE;
  if (document.title !== title) document.title = title;
}

/** Notifies of a session that has just gone above its target. @param {Api.Session | undefined} before
 * @param {Api.Session} now */
export function notifyOfCrossing(before, now) {
  if (!before || isAboveTarget(before) || !isAboveTarget(now) || !isNotifying()) return;
  try {
    const notice = new Notification(titleOf(now), { body: verdictText(now.verdict.text), tag: now.id });
    notice.addEventListener("click", () => {
      window.focus();
      location.assign(pageOf(now.id));
    });
  } catch {
    // A browser that shows notifications of service workers only, as on Android.
  }
}
