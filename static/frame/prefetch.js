// Fetches the modules of a session's page into the browser's cache while another page is open and idle, one
// at a time, so that they are there when a session is opened. The page's template lists them.

/** @type {string[]} */
const waiting = JSON.parse(document.querySelector("#prefetch")?.textContent ?? "[]");

function fetchNext() {
  const href = waiting.shift();
  if (!href) return;
  const link = Object.assign(document.createElement("link"), { rel: "prefetch", href });
  for (const end of ["load", "error"]) link.addEventListener(end, whenIdle);
  document.head.append(link);
}

const whenIdle = () => requestIdleCallback(fetchNext);

// A browser without one of the two loads the modules with the page that needs them.
if ("requestIdleCallback" in globalThis && document.createElement("link").relList.supports("prefetch"))
  addEventListener("load", whenIdle);
