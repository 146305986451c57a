// A model under test: its answer grows here; when it has ended, the page is fetched again with what it took.
const answer = document.getElementById("model-test");

const RETRY_MS = 5000; // no worker has begun, or too many streams are open already: the page is fetched instead

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
