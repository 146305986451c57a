// Copy buttons of code, links and answers. An answer's Markdown is fetched, because the page has its HTML only.
const SHOWN_MS = 1600;

const announce = (template) =>
  (document.getElementById("announcer").textContent = document.getElementById(template).content.textContent);

async function textOfAnswer(pane) {
  const [, battleId, index, side] = pane.id.match(/^a-(.+)-(\d+)-([^-]+)$/);
  const response = await fetch(`/api/v1/battles/${battleId}/`, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(response.statusText);
  const { turns } = await response.json();
  return turns.find((turn) => turn.index === Number(index)).answers.find((answer) => answer.side === side).text;
}

const textFor = {
  code: (button) => button.closest(".code").querySelector("pre").textContent,
  id: (button) => button.parentElement.querySelector("code").textContent,
  answer: (button) => textOfAnswer(button.closest(".pane")),
  address: (button) => button.parentElement.querySelector("input").value,
};

async function copy(button) {
  const text = textFor[button.dataset.copy](button);
  try {
    // The clipboard gets the promise: after waiting for it, the browser would no longer see a click.
    const blob = Promise.resolve(text).then((plain) => new Blob([plain], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
  } catch {
    return announce("not-copied");
  }
  button.classList.add("copied");
  announce("copied");
  setTimeout(() => button.classList.remove("copied"), SHOWN_MS);
}

function addCodeButtons() {
  const template = document.getElementById("copy-code");
  for (const head of document.querySelectorAll(".code-head:not(:has(.copy))")) {
    head.append(template.content.cloneNode(true));
  }
  for (const name of document.querySelectorAll(".model-id:not(:has(.copy))")) {
    name.append(document.getElementById("copy-id").content.cloneNode(true));
    name.querySelector(".copy .unseen").textContent = name.querySelector("code").textContent;
  }
}

// Browsers have a clipboard on HTTPS and localhost only.
if (navigator.clipboard && window.ClipboardItem) {
  document.documentElement.classList.add("can-copy");
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-copy]");
    if (button) copy(button);
  });
  document.addEventListener("htmx:afterSwap", addCodeButtons);
  document.addEventListener("htmx:sseMessage", ({ detail }) => ["block", "whole"].includes(detail.type) && addCodeButtons());
  addCodeButtons();
}
