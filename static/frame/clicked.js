// Gives the focus to a clicked button, as all browsers but Safari do. There it would go to <main>, and the
// page would not know from where a panel was opened, or which rows somebody is at.
import { focusOn } from "../shared/focus.js";

document.addEventListener(
  "click",
  ({ target, detail }) => {
    const button = target instanceof Element && target.closest("button, summary");
    // Without `detail`, Enter in a field or a script pressed it.
    if (button && detail > 0 && !button.contains(document.activeElement))
      focusOn(button, { preventScroll: true });
  },
  true,
);
