// An open board follows new snapshots and refreshes its table with its current filters and order. Between snapshots
// live Elo and the votes since the last one move in place.
const JITTER_MS = 2000; // keeps readers of one board from fetching at the same moment
const REFUSED_MS = 60000; // too many streams are open: the table is fetched instead

let stream = null;
let retryTimer = null;
let refreshTimer = null;

const number = new Intl.NumberFormat(document.documentElement.lang);
const board = () => document.getElementById("board");

function connect() {
  if (stream || document.hidden || !board()?.dataset.stream) return;
  const { stream: address, snapshot, seen } = board().dataset;
  const { reader } = document.getElementById("filters").dataset;
  const parameters = new URLSearchParams({ shown: snapshot, seen, reader });
  stream = new EventSource(`${address}&${parameters}`);
  stream.addEventListener("error", ({ target }) => {
    if (target !== stream || target.readyState !== EventSource.CLOSED) return;
    retryTimer = setTimeout(retry, REFUSED_MS + Math.random() * JITTER_MS);
  });
  stream.addEventListener("snapshot", ({ data }) => {
    if (data === board()?.dataset.snapshot) return;
    clearTimeout(refreshTimer);
    refreshTimer = setTimeout(refresh, Math.random() * JITTER_MS);
  });
  stream.addEventListener("live", ({ data }) => {
    const { snapshot: counted, models } = JSON.parse(data);
    if (counted !== board()?.dataset.snapshot) return; // the table is about to be fetched
    for (const [model, [votes, elo]] of Object.entries(models)) move(model, votes, elo);
  });
}

function move(model, votes, elo) {
  for (const row of document.querySelectorAll(`#board tr[data-model="${CSS.escape(model)}"]`)) {
    const show = (name, text) => {
      const cell = row.querySelector(`[data-live="${name}"]`);
      if (cell) cell.textContent = text;
    };
    show("new", votes ? `+${number.format(votes)}` : "");
    show("votes", number.format(Number(row.dataset.votes) + votes));
    if (elo !== null) show("elo", elo.toFixed(0));
  }
}

function disconnect() {
  stream?.close();
  stream = null;
  clearTimeout(refreshTimer);
  clearTimeout(retryTimer);
}

async function retry() {
  stream = null;
  await refresh().catch(() => {}); // the next retry will show whether the site is back
  connect();
}

async function refresh() {
  const before = board().dataset.snapshot;
  await htmx.ajax("GET", location.pathname + location.search, { target: "#board", swap: "outerHTML" });
  if (board().dataset.snapshot === before) return;
  const notice = document.getElementById("notice-new-snapshot").content.cloneNode(true);
  document.getElementById("notices").replaceChildren(notice);
}

// Another board was chosen, which has a stream of its own.
document.addEventListener("htmx:afterSwap", () => {
  if (!board() || stream?.url.startsWith(new URL(board().dataset.stream, location).href + "&")) return;
  disconnect();
  connect();
});
// Browsers limit connections to one site, so hidden tabs close theirs.
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
connect();
