// "n" leads to the next battle from the page of its review; battle.js does so from a reveal. Keys of buttons grade.

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  const key = event.key.toLowerCase();
  if (key === "n") document.querySelector("[data-next-answers]")?.click();
  else document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.click();
});
