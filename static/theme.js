// Sets the chosen theme on <html> before the first paint; a module would run too late, and the page would
// flash. "system" (nothing stored) leaves it to prefers-color-scheme.
(() => {
  try {
    const theme = localStorage.getItem("coppice-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is not allowed; the system's theme applies.
  }
})();
