// Changes that start without a control that frame/viewing.js can disable, such as those by key: on a viewer's
// page they only say why they are not made.
import { toast } from "./toast.js";

/** The sentence that says why a viewer can change nothing, as base.html has it; empty for everybody else. */
export const whyNot = () => document.getElementById("viewing")?.textContent ?? "";

/** Does what changes something; on a viewer's page it only says why that is not done.
 * @param {() => void} act */
export function unlessViewing(act) {
  const why = whyNot();
  if (why) toast(why);
  else act();
}
