// Arrow keys lead to other cases (up, down) and repeats (left, right), as the page's links do.
const item = document.getElementById("item");
const repeats = [...item.querySelectorAll("[data-repeat]")];
const here = repeats.findIndex((link) => link.hasAttribute("aria-current"));

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select, [contenteditable], .table-frame, pre");
  if (isTyping || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = {
    ArrowUp: item.querySelector("[rel=prev]"),
    ArrowDown: item.querySelector("[rel=next]"),
    ArrowLeft: repeats[here - 1],
    ArrowRight: repeats[here + 1],
  }[event.key];
  if (!link) return;
  event.preventDefault();
  link.click();
});
