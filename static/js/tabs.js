// Several tabs of one session: what is done in one the others fetch, at once, or at the latest when they are looked at
// again. What is being typed stays, and so does the focus.
const LOOKED_MS = 1500; // a look makes up to three events

const asker = document.querySelector("[data-catch-up]");
const session = asker.getAttribute("hx-get");
const others = new BroadcastChannel("sessions");
let askedAt = performance.now();
let isAsking = false; // soon: what this tab does itself comes first
let composerAt = null;

const composer = () => document.getElementById("composer");

function catchUp() {
  askedAt = performance.now();
  if (isAsking) return;
  isAsking = true;
  htmx.trigger(asker, "catch-up");
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
  isAsking = false;
  detail.parameters.known = [...document.querySelectorAll(".battle")].map(({ dataset }) => dataset.version);
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const { verb } = detail.requestConfig;
  if (verb !== "get" && detail.xhr.status < 400 && detail.elt.closest(".session")) others.postMessage(session);
});

// The session may be gone by now, and come back; what was typed is still here.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.elt !== asker || ![200, 204, 404].includes(detail.xhr.status)) return;
  const corner = document.getElementById("notices");
  const isSaid = corner.querySelector("[data-gone]") !== null;
  if (detail.xhr.status !== 404) corner.querySelector("[data-gone]")?.remove();
  else if (!isSaid) corner.replaceChildren(document.getElementById("session-gone").content.cloneNode(true));
});

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
