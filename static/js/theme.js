// Light, dark or the system's theme. Loaded before the stylesheet, so that no page flashes in the wrong colours.
(() => {
  const themes = ["system", "light", "dark"];
  const root = document.documentElement;

  function chosen() {
    try {
      return themes.find((theme) => theme === localStorage.getItem("theme")) ?? "system";
    } catch {
      return "system"; // storage is not allowed
    }
  }

  function apply(theme) {
    root.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    button.title = button.dataset[theme];
    button.setAttribute("aria-label", button.dataset[theme]);
  }

  apply(chosen());
  document.addEventListener("DOMContentLoaded", () => apply(chosen()));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#theme")) return;
    const next = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    try {
      localStorage.setItem("theme", next);
    } catch {
      // Storage is not allowed: the theme lasts for this page only.
    }
    apply(next);
  });
})();
