// Notices with a button to dismiss them. Refusals of a form are shown in the form, others in the corner of the page.
const corner = document.getElementById("notices");
const containerFor = (sender) => sender.closest("form")?.querySelector("[data-notices]") ?? corner;

function show(templateId, { elt }) {
  if (elt.matches("[data-refetch]")) return; // retries by itself and shows its own state
  containerFor(elt).replaceChildren(document.getElementById(templateId).content.cloneNode(true));
}

document.addEventListener("click", (event) => {
  const notice = event.target.closest("[data-dismiss]")?.closest(".notice");
  if (!notice) return;
  // Keyboard focus returns to the refused prompt, to the sidebar, or to the page.
  const refused = notice.closest("form")?.querySelector("textarea");
  const drawer = notice.closest(".sidebar")?.querySelector("a");
  (refused ?? drawer ?? document.getElementById("main")).focus({ preventScroll: true });
  notice.remove();
});
// A form without typed text names its own notice for both errors.
const noticeOf = (sender) => sender.closest("form")?.dataset.wentWrong;
const showNoAnswer = ({ detail }) => show(noticeOf(detail.elt) ?? "notice-no-answer", detail);
const showWentWrong = ({ elt }) => show(noticeOf(elt) ?? "notice-went-wrong", { elt });
document.addEventListener("htmx:sendError", showNoAnswer);
document.addEventListener("htmx:timeout", showNoAnswer);
document.addEventListener("htmx:responseError", ({ detail }) => showWentWrong(detail));

// An error response is swapped only into the target named by the server (a notice), or over its form (422).
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { status } = detail.xhr;
  if (status < 400 || status === 422) return;
  const { elt } = detail.requestConfig;
  if (detail.xhr.getResponseHeader("HX-Retarget")) {
    detail.target = containerFor(elt);
  } else {
    detail.shouldSwap = false;
    if (status === 413) show("notice-too-much", { elt });
    else showWentWrong({ elt });
  }
});
// A new attempt removes earlier notices; GET requests, such as the next rows of a list, do not.
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.requestConfig.verb === "get") return;
  if (corner.contains(detail.elt)) return; // an undo button: its response triggers further requests from this element
  corner.replaceChildren();
  containerFor(detail.elt).replaceChildren();
});
