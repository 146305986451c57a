// Toasts: dismissed by a button, and shown when the arena gave no answer that can be swapped in.
const area = document.getElementById("notices");

function show(templateId) {
  area.replaceChildren(document.getElementById(templateId).content.cloneNode(true));
}

document.addEventListener("click", (event) => {
  event.target.closest("[data-dismiss]")?.closest(".notice").remove();
});
document.addEventListener("htmx:sendError", () => show("notice-no-answer"));
document.addEventListener("htmx:timeout", () => show("notice-no-answer"));
document.addEventListener("htmx:responseError", () => show("notice-went-wrong"));

// A refusal is swapped only where the server said (a notice), or over the form it is about (422).
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  if (xhr.status >= 400 && xhr.status !== 422 && !xhr.getResponseHeader("HX-Retarget")) {
    event.detail.shouldSwap = false;
    show("notice-went-wrong");
  }
});
// A new try makes an earlier refusal old news; what is merely fetched, such as the next lines of a list, does not.
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.requestConfig.verb !== "get") area.replaceChildren();
});
