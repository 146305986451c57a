// An open board hears of new snapshots and brings its table up to date, in the order and choice it shows.
const SPREAD_MS = 2000; // readers of one board do not all ask in the same moment
const REFUSED_MS = 60000; // too many streams are open already: the table is fetched instead

let stream = null;
let again = null;
let due = null;

const board = () => document.getElementById("board");

function listen() {
  if (stream || document.hidden || !board()) return;
  const { stream: address, snapshot } = board().dataset;
  const { reader } = document.getElementById("filters").dataset;
  stream = new EventSource(`${address}&shown=${encodeURIComponent(snapshot)}&reader=${encodeURIComponent(reader)}`);
  stream.addEventListener("error", ({ target }) => {
    if (target !== stream || target.readyState !== EventSource.CLOSED) return;
    again = setTimeout(lookAgain, REFUSED_MS + Math.random() * SPREAD_MS);
  });
  stream.addEventListener("snapshot", ({ data }) => {
    if (data === board()?.dataset.snapshot) return;
    clearTimeout(due);
    due = setTimeout(refresh, Math.random() * SPREAD_MS);
  });
}

function hangUp() {
  stream?.close();
  stream = null;
  clearTimeout(due);
  clearTimeout(again);
}

async function lookAgain() {
  stream = null;
  await refresh().catch(() => {}); // away as well: the next look tells
  listen();
}

async function refresh() {
  const before = board().dataset.snapshot;
  await htmx.ajax("GET", location.pathname + location.search, { target: "#board", swap: "outerHTML" });
  if (board().dataset.snapshot === before) return;
  const notice = document.getElementById("notice-new-snapshot").content.cloneNode(true);
  document.getElementById("notices").replaceChildren(notice);
}

// Another board was chosen: its news are other news.
document.addEventListener("htmx:afterSwap", () => {
  if (!board() || stream?.url.startsWith(new URL(board().dataset.stream, location).href + "&")) return;
  hangUp();
  listen();
});
// A browser opens few connections to one site: a tab that nobody sees gives its own back.
document.addEventListener("visibilitychange", () => (document.hidden ? hangUp() : listen()));
listen();
