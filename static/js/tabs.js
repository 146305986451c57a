// Several tabs of one session: what is done in one the others fetch, at once, or at the latest when they are looked at
// again. What is being typed stays, and so does the focus.
const LOOKED_MS = 1500; // a look makes up to three events

const asker = document.querySelector("[data-catch-up]");
const session = asker.getAttribute("hx-get");
const others = new BroadcastChannel("sessions");
let askedAt = performance.now();
let isBehind = false; // something was done elsewhere that nobody has asked about yet
let composerAt = null;

const composer = () => document.getElementById("composer");

function catchUp() {
  askedAt = performance.now();
  isBehind = true;
  htmx.trigger(asker, "catch-up"); // which goes out unless this tab does something itself: that comes first
}

function look() {
  if (document.visibilityState === "visible" && performance.now() - askedAt > LOOKED_MS) catchUp();
}

document.addEventListener("visibilitychange", look);
addEventListener("focus", look);
addEventListener("pageshow", ({ persisted }) => persisted && catchUp());
others.addEventListener("message", ({ data }) => data === session && catchUp());

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.elt !== asker) return;
  isBehind = false;
  detail.parameters.known = [...document.querySelectorAll(".battle")].map(({ dataset }) => dataset.version);
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const { status } = detail.xhr;
  if (!detail.elt.closest(".session")) return;
  if (detail.elt !== asker) {
    if (detail.requestConfig.verb !== "get" && status && status < 400) others.postMessage(session);
  } else if (status) {
    sayWhetherGone(status);
  } else {
    isBehind = true; // it made room for what this tab does itself, or did not get through
    return;
  }
  if (isBehind) setTimeout(catchUp);
});

// The session may be gone by now, and come back; what was typed is still here.
function sayWhetherGone(status) {
  const corner = document.getElementById("notices");
  const isSaid = corner.querySelector("[data-gone]") !== null;
  if (status < 400) corner.querySelector("[data-gone]")?.remove();
  if (status === 404 && !isSaid) corner.replaceChildren(document.getElementById("session-gone").content.cloneNode(true));
}

// Whoever types keeps the line under their eyes, whatever grows above it.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const isTyping = detail.requestConfig.elt === asker && composer().contains(document.activeElement);
  composerAt = isTyping ? composer().getBoundingClientRect().top : null;
});
document.addEventListener("htmx:afterSwap", () => {
  if (composerAt === null) return;
  scrollBy({ top: composer().getBoundingClientRect().top - composerAt, behavior: "instant" });
  composerAt = null;
});
