// A lost line is said so, calmly and once, and picked up again by itself: the stream goes on where it was, and if it
// does not come back soon, the battle is fetched, as often as it takes.
const PATIENCE_MS = 4000;

const say = (template) =>
  (document.getElementById("announcer").textContent = document.getElementById(template).content.textContent.trim());

const isLost = (live) => live.isConnected && live.classList.contains("lost");

function pickUp(live) {
  if (isLost(live)) htmx.trigger(live.querySelector("[data-refetch]"), "refetch");
}

function lose(live) {
  if (live.classList.contains("lost")) return;
  live.classList.add("lost");
  say("connection-lost");
  const trying = setInterval(() => (isLost(live) ? pickUp(live) : clearInterval(trying)), PATIENCE_MS);
}

function find(live) {
  if (!live.classList.contains("lost")) return;
  live.classList.remove("lost");
  say("connection-back");
}

document.addEventListener("htmx:sseError", ({ target }) => lose(target));
document.addEventListener("htmx:sseOpen", ({ target }) => find(target));
// A browser that knows it is offline need not wait for the stream to notice.
addEventListener("offline", () => document.querySelectorAll("[data-live]").forEach(lose));
addEventListener("online", () => document.querySelectorAll("[data-live]").forEach(pickUp));
