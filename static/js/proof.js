// A battle that is refused until the browser has worked for it: solve the challenge, then send the form again with the proof.
const proofs = new WeakMap(); // of forms, to be sent once
const proved = new WeakSet(); // forms whose last request carried one
let solver = null;

function giveUp(notice) {
  notice.replaceWith(notice.querySelector("template").content);
}

function solve(notice) {
  const form = notice.closest("form");
  solver?.terminate();
  // Browsers compute only on secure pages; and who is asked again for what was just proved would be so without end.
  if (!crypto.subtle || proved.has(form)) return giveUp(notice);
  solver = new Worker(notice.dataset.solver);
  solver.onerror = () => giveUp(notice);
  solver.onmessage = ({ data: proof }) => {
    solver.terminate();
    if (!notice.isConnected) return; // dismissed, or sent anew meanwhile
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
