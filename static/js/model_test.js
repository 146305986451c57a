// A model under test: its answer grows here; when it has ended, the page is fetched again with what it took.
const answer = document.getElementById("model-test");

const REFUSED_MS = 5000; // too many streams are open already: the page is fetched instead

function follow(address) {
  const stream = new EventSource(address);
  stream.addEventListener("text", ({ data }) => {
    const { of, text } = JSON.parse(data);
    const pane = answer.querySelector(`[data-of="${of}"]`);
    pane.hidden = false;
    pane.querySelector("pre").append(text);
  });
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), REFUSED_MS);
  });
  stream.addEventListener("end", () => {
    stream.close();
    location.reload();
  });
}

if (answer?.dataset.stream) follow(answer.dataset.stream);
