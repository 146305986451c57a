// The prompt box: grows with its text, shows a counter near the limit, sends on Enter, takes suggestions.
const touch = matchMedia("(pointer: coarse)");
const growsByCss = CSS.supports("field-sizing", "content");

function fit(box) {
  if (!growsByCss) {
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight + 2}px`;
  }
  const limit = Number(box.dataset.limit);
  const length = [...box.value.trim()].length; // in code points, like battles/prompting/prompt.py
  const counter = box.closest(".prompt-box").querySelector(".counter");
  counter.hidden = length < limit * 0.9;
  counter.textContent = `${length.toLocaleString(document.documentElement.lang)} / ${limit.toLocaleString(document.documentElement.lang)}`;
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
  // A click instead of submit(), because htmx and formaction depend on the button.
  const buttons = [...event.target.form.querySelectorAll("button[type=submit]:not([hidden])")];
  const button = buttons.at("next" in event.target.form.dataset ? -1 : 0);
  button?.disabled ? tellToWait(event.target.form) : button?.click();
});

function tellToWait(form) {
  const notice = form.querySelector("[data-still]");
  if (notice) form.querySelector("[data-notices]").replaceChildren(notice.content.cloneNode(true));
}

document.addEventListener("click", ({ target }) => {
  const suggestion = target.closest("[data-fills]");
  if (!suggestion) return;
  const box = document.getElementById(suggestion.dataset.fills);
  box.value = suggestion.textContent.trim();
  fit(box);
  box.focus();
});

// ---- Switching the mode replaces the form; the typed text and attachments are kept. ----

let moving = null;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!detail.target.matches?.(".hero") || detail.xhr.status >= 400) return;
  const chips = detail.target.querySelector(".chips");
  moving = { text: detail.target.querySelector("textarea[data-limit]").value, chips: [...chips.children] };
  chips.replaceChildren(); // chips that are removed with the form would stop polling the state of their file
});
document.addEventListener("htmx:afterSwap", () => {
  if (!moving) return;
  const box = document.querySelector(".hero textarea[data-limit]");
  box.value = moving.text;
  document.querySelector(".hero .chips").replaceChildren(...moving.chips);
  moving = null;
  fit(box);
  box.focus();
});

function initialise(part) {
  for (const group of part.querySelectorAll(".suggestions")) group.hidden = false;
  for (const box of part.querySelectorAll("textarea[data-limit]")) fit(box);
}
initialise(document);
document.addEventListener("htmx:load", ({ target }) => initialise(target));
