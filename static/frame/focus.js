// Gives clicked buttons the focus in every browser, and shows the whole of a control that has it.
import { focusOn } from "../shared/keys.js";

const SCROLLED = ".chart-steps, .chips, .tabs, .models-scroll, .top nav";

// In a row or table that scrolls sideways, brings the whole of a control into view when a key focuses it.
// Browsers scroll only to what is entirely out of view, and would show an edge of a chip.
document.addEventListener("focusin", ({ target }) => {
  if (target instanceof Element && target.matches(":focus-visible") && target.closest(SCROLLED))
    target.scrollIntoView({ block: "nearest", inline: "nearest" });
});

// Focuses a clicked button, as all browsers but Safari do. There the focus would go to <main>, and the page
// could not tell which button opened a panel, or which row somebody is in.
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
