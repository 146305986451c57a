// The list of sessions: on a narrow screen a drawer that keeps the focus while it is open; a line being edited is left
// by Escape.
const drawer = document.getElementById("sessions");
const said = ["notices", "announcer"].map((id) => document.getElementById(id));

drawer.addEventListener("toggle", ({ newState }) => {
  const isOpen = newState === "open";
  for (const other of document.querySelectorAll("body > :is(.skip, header, main, footer)")) other.inert = isOpen;
  (isOpen ? drawer : document.body).append(...said); // outside it they would be covered, and read to nobody
  if (isOpen) {
    drawer.setAttribute("role", "dialog");
    drawer.setAttribute("aria-modal", "true");
    drawer.querySelector("a").focus();
    return;
  }
  drawer.setAttribute("role", "complementary");
  drawer.removeAttribute("aria-modal");
  document.querySelector(".open-sessions").focus();
});

document.addEventListener("keydown", (event) => {
  const line = event.key === "Escape" && event.target.closest(".editing");
  if (!line) return;
  event.preventDefault(); // the drawer stays open
  line.querySelector("[data-cancel]").click();
});

// A list whose last line has gone says what an empty one says.
document.addEventListener("htmx:afterRequest", ({ detail: { requestConfig } }) => {
  if (requestConfig.verb !== "post" || !requestConfig.elt.closest(".session-row")) return;
  const empty = document.querySelector(".session-list:not(:has(.session-row, .earlier)) > .none-left");
  if (empty) document.getElementById("announcer").textContent = empty.textContent;
});
