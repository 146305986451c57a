// Arrow keys lead to other cases (up, down) and repeats (left, right), as the page's links do; p, f and 1 to 5 grade.
const item = document.getElementById("item");
const repeats = [...item.querySelectorAll("[data-repeat]")];
const here = repeats.findIndex((link) => link.hasAttribute("aria-current"));
const isSending = () => item.querySelector("#grades .htmx-request") !== null;

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select, [contenteditable], .table-frame, pre");
  if (isTyping || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const target =
    {
      ArrowUp: item.querySelector("[rel=prev]"),
      ArrowDown: item.querySelector("[rel=next]"),
      ArrowLeft: repeats[here - 1],
      ArrowRight: repeats[here + 1],
    }[event.key] ?? item.querySelector(`#grades [data-key="${CSS.escape(event.key)}"]`);
  if (!target) return;
  event.preventDefault();
  if (event.repeat && target.matches("button")) return;
  // Leaving the page would cut off a grade that is under way.
  if (target.matches("a") && isSending()) document.addEventListener("htmx:afterRequest", () => target.click(), { once: true });
  else target.click();
});
