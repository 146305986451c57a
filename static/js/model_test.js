// A model under test: its answer grows here; when it has ended, the page is fetched again with what it took.
const answer = document.getElementById("model-test");

function follow(address) {
  const stream = new EventSource(address);
  stream.addEventListener("text", ({ data }) => {
    const { of, text } = JSON.parse(data);
    const pane = answer.querySelector(`[data-of="${of}"]`);
    pane.hidden = false;
    pane.querySelector("pre").append(text);
  });
  stream.addEventListener("end", () => {
    stream.close();
    location.reload();
  });
}

if (answer?.dataset.stream) follow(answer.dataset.stream);
