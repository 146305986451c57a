// The prompt box: grows with its text, counts near the limit, sends on Enter, is filled by suggestions.
const touch = matchMedia("(pointer: coarse)");
const grows = CSS.supports("field-sizing", "content");

function fit(box) {
  if (!grows) {
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight + 2}px`;
  }
  const limit = Number(box.dataset.limit);
  const length = [...box.value].length;
  const counter = box.closest(".prompt-box").querySelector(".counter");
  counter.hidden = length < limit * 0.9;
  counter.textContent = `${length.toLocaleString()} / ${limit.toLocaleString()}`;
  counter.classList.toggle("over", length > limit);
}

function isBox(element) {
  return element instanceof HTMLTextAreaElement && element.dataset.limit;
}

document.addEventListener("input", ({ target }) => isBox(target) && fit(target));

document.addEventListener("keydown", (event) => {
  if (!isBox(event.target) || event.key !== "Enter" || event.isComposing) return;
  const forced = event.ctrlKey || event.metaKey;
  if (!forced && (event.shiftKey || touch.matches)) return;
  event.preventDefault();
  // A click, not submit(): htmx and formaction need to know which button it was.
  event.target.form.querySelector("button[type=submit]:not([hidden])")?.click();
});

document.addEventListener("click", ({ target }) => {
  const suggestion = target.closest("[data-fills]");
  if (!suggestion) return;
  const box = document.getElementById(suggestion.dataset.fills);
  box.value = suggestion.textContent.trim();
  fit(box);
  box.focus();
});

for (const group of document.querySelectorAll(".suggestions")) group.hidden = false;
for (const box of document.querySelectorAll("textarea[data-limit]")) fit(box);
document.addEventListener("htmx:load", ({ target }) => {
  for (const box of target.querySelectorAll("textarea[data-limit]")) fit(box);
});
