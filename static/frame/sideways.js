// Brings a control whole into view that gets the focus by a key in a row or table that scrolls sideways.
// Browsers scroll only to what is wholly out of view, so that of a chip with the focus an edge was seen.

const SCROLLED = ".chart-steps, .chips, .tabs, .models-scroll, .top nav";

document.addEventListener("focusin", ({ target }) => {
  if (target instanceof Element && target.matches(":focus-visible") && target.closest(SCROLLED))
    target.scrollIntoView({ block: "nearest", inline: "nearest" });
});
