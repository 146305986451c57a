// On narrow screens panes are swiped; their tabs scroll to a pane and mark the visible one.
document.addEventListener(
  "scroll",
  ({ target: panes }) => {
    if (!(panes instanceof Element) || !panes.matches(".panes")) return;
    const shown = Math.round(Math.abs(panes.scrollLeft) / panes.clientWidth);
    panes.parentElement.querySelectorAll(".pane-tabs a").forEach((tab, index) => {
      if (index === shown) tab.setAttribute("aria-current", "true");
      else tab.removeAttribute("aria-current");
    });
  },
  { capture: true, passive: true },
);
document.addEventListener("click", (event) => {
  const tab = event.target.closest(".pane-tabs a");
  if (!tab) return;
  event.preventDefault();
  const pane = document.getElementById(tab.hash.slice(1));
  const panes = pane.parentElement;
  const { left, top } = panes.getBoundingClientRect();
  panes.scrollBy({ left: pane.getBoundingClientRect().left - left });
  if (top < 0) panes.scrollIntoView({ block: "start" });
});
