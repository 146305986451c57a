// The list of sessions: on narrow screens a drawer that traps the focus; Escape cancels editing a row.
const drawer = document.getElementById("sessions");
const messages = ["notices", "announcer"].map((id) => document.getElementById(id));

drawer.addEventListener("toggle", ({ newState }) => {
  const isOpen = newState === "open";
  for (const other of document.querySelectorAll("body > :is(.skip, header, main, footer)")) other.inert = isOpen;
  (isOpen ? drawer : document.body).append(...messages); // outside the open drawer they would be covered and not read aloud
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
  const row = event.key === "Escape" && event.target.closest(".editing");
  if (!row) return;
  event.preventDefault(); // the drawer stays open
  row.querySelector("[data-cancel]").click();
});

// Announce the text of an empty list after its last row was removed.
document.addEventListener("htmx:afterRequest", ({ detail: { requestConfig } }) => {
  if (requestConfig.verb !== "post" || !requestConfig.elt.closest(".session-row")) return;
  const empty = document.querySelector(".session-list:not(:has(.session-row, .earlier)) > .none-left");
  if (empty) document.getElementById("announcer").textContent = empty.textContent;
});
