// A lost stream is announced once. EventSource resumes it where it stopped; until then the battle is fetched every few
// seconds. The same happens when too many streams are open (429): answers then appear when they are complete, or live
// once another stream has ended.
const REFETCH_INTERVAL_MS = { lost: 4000, refused: 10000 };

const announced = new Map(); // battle id → "lost" or "refused"; by id, because a fetched battle is a new element
const timers = new WeakMap();

const announce = (template) =>
  (document.getElementById("announcer").textContent = document.getElementById(template).content.textContent.trim());

const idOf = (live) => live.closest(".battle").id;
const isOff = (live) => live.isConnected && live.matches(".lost, .refused");

function refetch(live) {
  if (isOff(live)) htmx.trigger(live.querySelector("[data-refetch]"), "refetch");
}

function show(live, state) {
  live.classList.toggle("lost", state === "lost");
  live.classList.toggle("refused", state === "refused");
}

function markOff(live, state) {
  if (timers.has(live) && live.classList.contains(state)) return;
  show(live, state);
  if (announced.get(idOf(live)) !== state) announce(`connection-${state}`);
  announced.set(idOf(live), state);
  clearInterval(timers.get(live));
  const timer = setInterval(() => (isOff(live) ? refetch(live) : clearInterval(timer)), REFETCH_INTERVAL_MS[state]);
  timers.set(live, timer);
}

function markOn(live) {
  show(live, null);
  if (announced.delete(idOf(live))) announce("connection-back");
}

// An EventSource does not expose the status of its response.
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
  if (refused) live.removeAttribute("sse-connect"); // otherwise htmx's extension would reconnect every few seconds
  markOff(live, refused ? "refused" : "lost");
});
document.addEventListener("htmx:sseOpen", ({ target }) => markOn(target));
// A fetched battle keeps showing the state until its new stream opens.
document.addEventListener("htmx:afterSwap", () => {
  for (const [id, state] of announced) {
    const live = document.getElementById(id)?.querySelector("[data-live]");
    live ? show(live, state) : announced.delete(id);
  }
});
// The browser's own events come earlier than a stream's timeout.
addEventListener("offline", () => document.querySelectorAll("[data-live]").forEach((live) => markOff(live, "lost")));
addEventListener("online", () => document.querySelectorAll("[data-live]").forEach(refetch));
