// Streams the answer of a model under test; then reloads the page, which shows the measured times and cost.
// A table of several tests is fetched again until all are over.
const answer = document.getElementById("model-test");

const RETRY_MS = 5000; // no worker has started, or too many streams are open: the page is reloaded instead

const pane = (side) => answer.querySelector(`[data-of="${side}"]`);

function follow(address) {
  const stream = new EventSource(address);
  stream.addEventListener("reset", ({ data }) => {
    pane(JSON.parse(data).side).querySelector("pre").textContent = "";
  });
  stream.addEventListener("text", ({ data }) => {
    const { side, text } = JSON.parse(data);
    pane(side).hidden = false;
    pane(side).querySelector("pre").append(text);
  });
  stream.addEventListener("error", () => {
    stream.close();
    setTimeout(() => location.reload(), RETRY_MS);
  });
  stream.addEventListener("end", () => {
    stream.close();
    location.reload();
  });
}

if (answer?.dataset.stream) follow(answer.dataset.stream);

async function renew() {
  const response = await fetch(location.href).catch(() => null);
  if (response?.ok) {
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    document.getElementById("model-tests").replaceChildren(...page.getElementById("model-tests").childNodes);
    if (!("underWay" in page.getElementById("model-tests").dataset)) return;
  }
  setTimeout(renew, 2000);
}

if ("underWay" in (document.getElementById("model-tests")?.dataset ?? {})) setTimeout(renew, 1000);
