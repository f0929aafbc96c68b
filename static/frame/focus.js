// Gives clicked buttons the focus in every browser, and shows the whole of a control that has it.
import { focusOn } from "../shared/keys.js";

const SCROLLED = ".chart-steps, .chips, .tabs, .models-scroll, .top nav";

// Brings a control whole into view that gets the focus by a key in a row or table that scrolls sideways.
// Browsers scroll only to what is wholly out of view, so that of a chip with the focus an edge was seen.
document.addEventListener("focusin", ({ target }) => {
  if (target instanceof Element && target.matches(":focus-visible") && target.closest(SCROLLED))
    target.scrollIntoView({ block: "nearest", inline: "nearest" });
});

// Gives the focus to a clicked button, as all browsers but Safari do. There it would go to <main>, and the
// page would not know from where a panel was opened, or which rows somebody is at.
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
