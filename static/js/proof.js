// Proof of work: solve the challenge of a refused battle, then send the form again with the proof.
const proofs = new WeakMap(); // form → proof for its next request
const proved = new WeakSet(); // forms whose last request had a proof
let solver = null;

function giveUp(notice) {
  notice.replaceWith(notice.querySelector("template").content);
}

function solve(notice) {
  const form = notice.closest("form");
  solver?.terminate();
  // crypto.subtle exists on secure pages only. A second challenge right after a proof would repeat without end.
  if (!crypto.subtle || proved.has(form)) return giveUp(notice);
  solver = new Worker(notice.dataset.solver);
  solver.onerror = () => giveUp(notice);
  solver.onmessage = ({ data: proof }) => {
    solver.terminate();
    if (!notice.isConnected) return; // dismissed, or the form was sent again
    proofs.set(form, proof);
    form.requestSubmit(form.querySelector("button[type=submit]:not([hx-post])"));
  };
  solver.postMessage(JSON.parse(notice.dataset.challenge));
}

document.addEventListener("htmx:configRequest", ({ detail }) => {
  const form = detail.elt.closest("form");
  if (!form || detail.verb !== "post") return;
  const proof = proofs.get(form);
  if (proof) {
    detail.parameters.proof = proof;
    proved.add(form);
  } else {
    proved.delete(form);
  }
  proofs.delete(form);
});
document.addEventListener("htmx:load", ({ target }) => {
  if (target.matches("[data-challenge]")) solve(target);
});
