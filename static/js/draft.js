// What is being typed outlives a reload: it waits in this tab's own storage, unless its writer signed out.
const name = `draft:${location.pathname}`;
const who = document.querySelector(".account-link").title; // empty for visitors, whose words go with them when they sign in
const box = () => document.querySelector("textarea[data-limit]");
let isSent = false;

const writer = sessionStorage.getItem("draft-of");
if (writer && writer !== who) {
  for (const kept of Object.keys(sessionStorage)) kept.startsWith("draft:") && sessionStorage.removeItem(kept);
}
sessionStorage.setItem("draft-of", who);

const draft = sessionStorage.getItem(name);
if (draft && box()?.value === "") {
  box().value = draft;
  box().dispatchEvent(new Event("input", { bubbles: true }));
}

function keep() {
  const text = isSent ? "" : (box()?.value ?? "");
  text.trim() ? sessionStorage.setItem(name, text) : sessionStorage.removeItem(name);
}
addEventListener("pagehide", keep);
document.addEventListener("visibilitychange", () => document.hidden && keep());
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
  if (detail.xhr.getResponseHeader("HX-Redirect")) isSent = true;
});
addEventListener("pageshow", ({ persisted }) => persisted && (isSent = false));
