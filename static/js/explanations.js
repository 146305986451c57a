// Escape hides the explanation of a column, which covers what is above, until the pointer or the focus comes again.
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  for (const head of document.querySelectorAll(".standings thead th:is(:hover, :focus-within)")) {
    head.classList.add("dismissed");
    for (const event of ["pointerleave", "focusout"]) {
      head.addEventListener(event, () => head.classList.remove("dismissed"), { once: true });
    }
  }
});
