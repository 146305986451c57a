// Light, dark, or as the system says. Loaded before the stylesheet so that no page flashes in the wrong colours.
(() => {
  const themes = ["system", "light", "dark"];
  const root = document.documentElement;

  function chosen() {
    try {
      return themes.find((theme) => theme === localStorage.getItem("theme")) ?? "system";
    } catch {
      return "system"; // storage is forbidden: follow the system
    }
  }

  function wear(theme) {
    root.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    button.title = button.dataset[theme];
    button.setAttribute("aria-label", button.dataset[theme]);
  }

  wear(chosen());
  document.addEventListener("DOMContentLoaded", () => wear(chosen()));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#theme")) return;
    const next = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
    try {
      localStorage.setItem("theme", next);
    } catch {
      // It holds for this page only.
    }
    wear(next);
  });
})();
