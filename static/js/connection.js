// A lost line is said so, calmly and once, and picked up again by itself: the stream goes on where it was, and if it
// does not come back soon, the battle is fetched, as often as it takes. So it is where too many streams are open already
// (429): the answers then come when they are complete, or live once another stream has ended.
const PATIENCE_MS = { lost: 4000, refused: 10000 };

const announced = new Map(); // battle id → "lost" or "refused"; the battle is replaced each time it is fetched
const timers = new WeakMap();

const say = (template) =>
  (document.getElementById("announcer").textContent = document.getElementById(template).content.textContent.trim());

const idOf = (live) => live.closest(".battle").id;
const isOff = (live) => live.isConnected && live.matches(".lost, .refused");

function pickUp(live) {
  if (isOff(live)) htmx.trigger(live.querySelector("[data-refetch]"), "refetch");
}

function show(live, state) {
  live.classList.toggle("lost", state === "lost");
  live.classList.toggle("refused", state === "refused");
}

function lose(live, state) {
  if (timers.has(live) && live.classList.contains(state)) return;
  show(live, state);
  if (announced.get(idOf(live)) !== state) say(`connection-${state}`);
  announced.set(idOf(live), state);
  clearInterval(timers.get(live));
  const timer = setInterval(() => (isOff(live) ? pickUp(live) : clearInterval(timer)), PATIENCE_MS[state]);
  timers.set(live, timer);
}

function find(live) {
  show(live, null);
  if (announced.delete(idOf(live))) say("connection-back");
}

// An EventSource keeps the status to itself.
async function isRefused(address) {
  const stop = new AbortController();
  try {
    return (await fetch(address, { signal: stop.signal })).status === 429;
  } catch {
    return false;
  } finally {
    stop.abort();
  }
}

document.addEventListener("htmx:sseError", async ({ target: live, detail: { source } }) => {
  const refused = source.readyState === EventSource.CLOSED && (await isRefused(source.url));
  if (!live.isConnected) return;
  if (refused) live.removeAttribute("sse-connect"); // the extension would try again every few moments
  lose(live, refused ? "refused" : "lost");
});
document.addEventListener("htmx:sseOpen", ({ target }) => find(target));
// A battle that was fetched says at once what is not known of its new stream yet.
document.addEventListener("htmx:afterSwap", () => {
  for (const [id, state] of announced) {
    const live = document.getElementById(id)?.querySelector("[data-live]");
    live ? show(live, state) : announced.delete(id);
  }
});
// A browser that knows it is offline need not wait for the stream to notice.
addEventListener("offline", () => document.querySelectorAll("[data-live]").forEach((live) => lose(live, "lost")));
addEventListener("online", () => document.querySelectorAll("[data-live]").forEach(pickUp));
