// An unsent prompt survives a reload in the tab's session storage, but not a sign-out.
const name = `draft:${location.pathname}`;
const account = document.querySelector(".account-link").title; // empty for visitors, who keep their draft when they sign in
const box = () => document.querySelector("textarea[data-limit]");
let isSent = false;

const author = sessionStorage.getItem("draft-of");
if (author && author !== account) {
  for (const key of Object.keys(sessionStorage)) key.startsWith("draft:") && sessionStorage.removeItem(key);
}
sessionStorage.setItem("draft-of", account);

const draft = sessionStorage.getItem(name);
if (draft && box()?.value === "") {
  box().value = draft;
  box().dispatchEvent(new Event("input", { bubbles: true }));
}

function saveDraft() {
  const text = isSent ? "" : (box()?.value ?? "");
  text.trim() ? sessionStorage.setItem(name, text) : sessionStorage.removeItem(name);
}
addEventListener("pagehide", saveDraft);
document.addEventListener("visibilitychange", () => document.hidden && saveDraft());
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
  if (detail.xhr.getResponseHeader("HX-Redirect")) isSent = true;
});
addEventListener("pageshow", ({ persisted }) => persisted && (isSent = false));
