// Copying a piece of code, an address, or a whole answer as it was written: its Markdown is fetched, since the page
// holds HTML only.
const SHOWN_MS = 1600;

const say = (template) =>
  (document.getElementById("announcer").textContent = document.getElementById(template).content.textContent);

async function textOfAnswer(pane) {
  const [, battleId, index, side] = pane.id.match(/^a-(.+)-(\d+)-([^-]+)$/);
  const response = await fetch(`/api/v1/battles/${battleId}/`, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(response.statusText);
  const { turns } = await response.json();
  return turns.find((turn) => turn.index === Number(index)).answers.find((answer) => answer.side === side).text;
}

const wanted = {
  code: (button) => button.closest(".code").querySelector("pre").textContent,
  answer: (button) => textOfAnswer(button.closest(".pane")),
  address: (button) => button.parentElement.querySelector("input").value,
};

async function copy(button) {
  const text = wanted[button.dataset.copy](button);
  try {
    // The promise itself is given: by the time it is kept, the click would no longer be one.
    const blob = Promise.resolve(text).then((plain) => new Blob([plain], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
  } catch {
    return say("not-copied");
  }
  button.classList.add("copied");
  say("copied");
  setTimeout(() => button.classList.remove("copied"), SHOWN_MS);
}

function offerCode() {
  const template = document.getElementById("copy-code");
  for (const head of document.querySelectorAll(".code-head:not(:has(.copy))")) {
    head.append(template.content.cloneNode(true));
  }
}

// A browser has a clipboard for pages from https and from this machine only.
if (navigator.clipboard && window.ClipboardItem) {
  document.documentElement.classList.add("can-copy");
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-copy]");
    if (button) copy(button);
  });
  document.addEventListener("htmx:afterSwap", offerCode);
  document.addEventListener("htmx:sseMessage", ({ detail }) => detail.type === "block" && offerCode());
  offerCode();
}
