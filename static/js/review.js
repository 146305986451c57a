// "n" leads to the next battle from the page of its review; battle.js does so from a reveal.

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "n" || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  document.querySelector("[data-next-answers]")?.click();
});
