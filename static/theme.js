// Puts the chosen theme on <html> before the first paint; a module would come too late and flash. "system"
// (nothing stored) leaves it to prefers-color-scheme.
(() => {
  try {
    const theme = localStorage.getItem("coppice-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is forbidden here; the system's theme is a good answer.
  }
})();
