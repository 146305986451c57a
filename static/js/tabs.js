// Several tabs of one session: each fetches the changes of the others at once, or when it is shown again. Typed text and
// focus are kept.
const MIN_INTERVAL_MS = 1500; // showing a tab fires up to three events

const fetcher = document.querySelector("[data-catch-up]");
const session = fetcher.getAttribute("hx-get");
const otherTabs = new BroadcastChannel("sessions");
let fetchedAt = performance.now();
let isBehind = false; // another tab made changes that were not fetched yet
let composerTop = null;

const composer = () => document.getElementById("composer");

function catchUp() {
  fetchedAt = performance.now();
  isBehind = true;
  htmx.trigger(fetcher, "catch-up"); // dropped by htmx while a request of this tab runs
}

function catchUpIfVisible() {
  if (document.visibilityState === "visible" && performance.now() - fetchedAt > MIN_INTERVAL_MS) catchUp();
}

document.addEventListener("visibilitychange", catchUpIfVisible);
addEventListener("focus", catchUpIfVisible);
addEventListener("pageshow", ({ persisted }) => persisted && catchUp());
otherTabs.addEventListener("message", ({ data }) => data === session && catchUp());

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.elt !== fetcher) return;
  isBehind = false;
  detail.parameters.known = [...document.querySelectorAll(".battle")].map(({ dataset }) => dataset.version);
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const { status } = detail.xhr;
  if (!detail.elt.closest(".session")) return;
  if (detail.elt !== fetcher) {
    if (detail.requestConfig.verb !== "get" && status && status < 400) otherTabs.postMessage(session);
  } else if (status) {
    updateGoneNotice(status);
  } else {
    isBehind = true; // it was aborted by a request of this tab, or the network failed
    return;
  }
  if (isBehind) setTimeout(catchUp);
});

// Another tab may delete the session and restore it; typed text is kept here.
function updateGoneNotice(status) {
  const corner = document.getElementById("notices");
  const isShown = corner.querySelector("[data-gone]") !== null;
  if (status < 400) corner.querySelector("[data-gone]")?.remove();
  if (status === 404 && !isShown) corner.replaceChildren(document.getElementById("session-gone").content.cloneNode(true));
}

// Keep the composer in place on the screen when content above it grows while a person is typing.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const isTyping = detail.requestConfig.elt === fetcher && composer()?.contains(document.activeElement);
  composerTop = isTyping ? composer().getBoundingClientRect().top : null;
});
document.addEventListener("htmx:afterSwap", () => {
  if (composerTop === null) return;
  scrollBy({ top: composer().getBoundingClientRect().top - composerTop, behavior: "instant" });
  composerTop = null;
});
