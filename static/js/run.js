// An open run moves its bars with each event of its stream. What events do not have – results, reasons, failures – is
// fetched when the state changes, and from time to time. Without the stream, the page is fetched every few seconds.
const POLL_MS = 5000;
const REFRESH_MS = 30000;
const FIRST_MS = 5000; // after the first answer, and after a failure
const PREPARING_MS = 2000; // preparation has no events
const JITTER_MS = 500; // keeps readers of one run from fetching at the same moment

const number = new Intl.NumberFormat(document.documentElement.lang);
const live = () => document.getElementById("live");
const sum = (counts, ...states) => states.reduce((total, state) => total + (counts[state] ?? 0), 0);

let stream = null;
let pollTimer = null;
let refreshTimer = null;

function connect() {
  const { stream: address } = live().dataset;
  if (live().dataset.state === "preparing") refreshIn(PREPARING_MS);
  if (stream || document.hidden || !address) return;
  stream = new EventSource(address);
  stream.addEventListener("open", () => setLost(false));
  stream.addEventListener("error", () => setLost(true));
  stream.addEventListener("progress", ({ data }) => show(JSON.parse(data)));
  stream.addEventListener("end", () => {
    disconnect();
    refreshIn(0);
  });
}

function disconnect() {
  stream?.close();
  stream = null;
  clearInterval(pollTimer);
  pollTimer = null;
  clearTimeout(refreshTimer);
  refreshTimer = null;
}

function setLost(isLost) {
  live().classList.toggle("is-lost", isLost);
  if (isLost && !pollTimer) pollTimer = setInterval(refresh, POLL_MS);
  if (!isLost) {
    clearInterval(pollTimer);
    pollTimer = null;
  }
}

function show({ state, entrants }) {
  let finished = 0;
  let failed = 0;
  let answered = 0;
  for (const [entrant, counts] of Object.entries(entrants)) {
    finished += sum(counts, "scored", "answered", "failed", "skipped", "left_out");
    failed += sum(counts, "failed");
    answered += sum(counts, "scored", "answered");
    showEntrant(live().querySelector(`[data-entrant="${CSS.escape(entrant)}"]`), counts);
  }
  write(live(), "finished", finished);
  if (state !== live().dataset.state) refreshIn(0);
  else if (failed !== Number(live().dataset.failed)) refreshIn(FIRST_MS);
  else if (answered && live().dataset.answered === "0") refreshIn(FIRST_MS);
  else refreshIn(REFRESH_MS);
}

function showEntrant(row, counts) {
  if (!row) return;
  const shown = {
    done: sum(counts, "scored", "answered"),
    failed: sum(counts, "failed"),
    answering: sum(counts, "answering"),
    waiting: sum(counts, "queued"),
  };
  for (const [name, n] of Object.entries(shown)) write(row, name, n);
  const total = Object.values(counts).reduce((all, n) => all + n, 0);
  let start = 0;
  for (const name of ["done", "failed", "answering"]) {
    const n = name === "failed" ? shown.failed + sum(counts, "skipped", "left_out") : shown[name];
    const width = total ? (100 * n) / total : 0;
    const part = row.querySelector(`rect.${name}`);
    part.setAttribute("x", start);
    part.setAttribute("width", width);
    start += width;
  }
}

function write(parent, name, n) {
  const place = parent.querySelector(`[data-live="${name}"]`);
  if (place) place.textContent = number.format(n);
}

// The soonest of several wishes counts.
let refreshAt = Infinity;
function refreshIn(delay) {
  const at = Date.now() + delay;
  if (refreshTimer && refreshAt <= at) return;
  clearTimeout(refreshTimer);
  refreshAt = at;
  refreshTimer = setTimeout(refresh, delay + Math.random() * JITTER_MS);
}

async function refresh() {
  clearTimeout(refreshTimer);
  refreshTimer = null;
  if (live().contains(document.activeElement) && document.activeElement.matches("input")) return; // being filled in
  if (live().querySelector(".leave-out[open]")) return refreshIn(POLL_MS); // being decided
  const wasLost = live().classList.contains("is-lost");
  await htmx.ajax("GET", live().dataset.page, { target: "#live", swap: "outerHTML" }).catch(() => {});
  live().classList.toggle("is-lost", wasLost);
  if (!live().dataset.stream) disconnect();
  else connect();
}

// Browsers limit connections to one site, so hidden tabs close theirs.
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : live().dataset.stream && refresh()));
connect();
