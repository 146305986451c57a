// Escape hides the explanations of columns under the pointer or the focus, until these leave.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const head of document.querySelectorAll("th:is(:hover, :focus-within)")) {
    const explanation = head.querySelector(".explanation");
    if (!explanation) continue;
    explanation.hidden = true;
    const show = () => { explanation.hidden = false; };
    for (const leaving of ["mouseleave", "focusout"]) head.addEventListener(leaving, show, { once: true });
  }
});
