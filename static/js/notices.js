// Notices: dismissed by a button. What a form was refused stands in the form, beside what was typed; the rest in the corner.
const corner = document.getElementById("notices");
const placeFor = (sender) => sender.closest("form")?.querySelector("[data-notices]") ?? corner;

function show(templateId, { elt }) {
  if (elt.matches("[data-refetch]")) return; // asks again by itself, and says so where it does
  placeFor(elt).replaceChildren(document.getElementById(templateId).content.cloneNode(true));
}

document.addEventListener("click", (event) => {
  const notice = event.target.closest("[data-dismiss]")?.closest(".notice");
  if (!notice) return;
  // Who reads on with the keys goes back to what was refused, to the drawer, or to the page.
  const refused = notice.closest("form")?.querySelector("textarea");
  const drawer = notice.closest(".sidebar")?.querySelector("a");
  (refused ?? drawer ?? document.getElementById("main")).focus({ preventScroll: true });
  notice.remove();
});
// A form without typed text has words of its own for both.
const wordsOf = (sender) => sender.closest("form")?.dataset.wentWrong;
const showNoAnswer = ({ detail }) => show(wordsOf(detail.elt) ?? "notice-no-answer", detail);
const showWentWrong = ({ elt }) => show(wordsOf(elt) ?? "notice-went-wrong", { elt });
document.addEventListener("htmx:sendError", showNoAnswer);
document.addEventListener("htmx:timeout", showNoAnswer);
document.addEventListener("htmx:responseError", ({ detail }) => showWentWrong(detail));

// A refusal is swapped only where the server said (a notice), or over the form it is about (422).
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { status } = detail.xhr;
  if (status < 400 || status === 422) return;
  const { elt } = detail.requestConfig;
  if (detail.xhr.getResponseHeader("HX-Retarget")) {
    detail.target = placeFor(elt);
  } else {
    detail.shouldSwap = false;
    if (status === 413) show("notice-too-much", { elt });
    else showWentWrong({ elt });
  }
});
// A new try makes an earlier refusal old news; what is merely fetched, such as the next lines of a list, does not.
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.requestConfig.verb === "get") return;
  if (corner.contains(detail.elt)) return; // an undo: what its answer sets off starts from here
  corner.replaceChildren();
  placeFor(detail.elt).replaceChildren();
});
