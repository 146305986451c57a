// Signs of a run under way change with its stream, which has no texts: answers, and cells of several repeats, are
// fetched from time to time.
const REFRESH_MS = 30000;
const number = new Intl.NumberFormat(document.documentElement.lang, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const matrix = () => document.getElementById("matrix");
let stream = null;
let refreshTimer = null;

function sign(state, score, passed) {
  if (state === "failed") return "failed";
  if (state === "skipped" || state === "left_out") return "none";
  if (state !== "scored") return null;
  if (score === null) return "unscored";
  if (passed === true) return "right";
  return score === 0 ? "wrong" : "partly";
}

function show([item, state, score, passed]) {
  const cell = matrix().querySelector(`[data-item="${item}"]`);
  const name = sign(state, score, passed);
  if (!cell || !name) return;
  cell.dataset.sign = name;
  const content = document.getElementById(`sign-${name}`).content.cloneNode(true);
  cell.querySelector(".verdict").replaceChildren(content, " ", score === null ? "" : number.format(score));
}

function refresh() {
  refreshTimer = null;
  if (matrix().querySelector("tbody:focus-within")) refreshTimer = setTimeout(refresh, REFRESH_MS);
  else htmx.ajax("GET", location.href, { target: "#matrix tbody", select: "tbody", swap: "outerHTML" }).catch(() => {});
}

function connect() {
  const { stream: address } = matrix().dataset;
  if (stream || document.hidden || !address) return;
  stream = new EventSource(address);
  stream.addEventListener("progress", ({ data }) => {
    JSON.parse(data).items.forEach(show);
    refreshTimer ??= setTimeout(refresh, REFRESH_MS);
  });
  stream.addEventListener("end", () => {
    disconnect();
    refresh();
  });
}

function disconnect() {
  stream?.close();
  stream = null;
  clearTimeout(refreshTimer);
  refreshTimer = null;
}

// Browsers limit connections to one site, so hidden tabs close theirs.
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
connect();
