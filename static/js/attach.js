// Files for a prompt: chosen, dropped or pasted; sent at once, one after the other; their chips go with the form.
const boxOf = (element) => element.closest("form")?.querySelector(".attachments");

function token(form) {
  return form.querySelector("[name=csrfmiddlewaretoken]").value;
}

// Beside what was typed, as every refusal of a form.
const noticesOf = (box) => box.closest("form").querySelector("[data-notices]");

function notice(box, template) {
  noticesOf(box).replaceChildren(template.content.cloneNode(true));
}

// One after the other: the first may be what makes a newcomer known, and the others go with the same cookie.
let sent = Promise.resolve();

function add(box, files) {
  const chips = box.querySelector(".chips");
  noticesOf(box).replaceChildren(); // about files before these
  for (const file of files) {
    if (chips.children.length >= Number(box.dataset.atMost)) return notice(box, box.querySelector("[data-too-many]"));
    const chip = box.querySelector("[data-chip]").content.firstElementChild.cloneNode(true);
    chip.querySelector(".chip-name").textContent = file.name;
    chips.append(chip);
    sent = sent.then(() => send(box, chip, file));
  }
}

// XMLHttpRequest, because fetch does not say how much has been sent.
function send(box, chip, file) {
  if (!chip.isConnected) return null;
  const request = new XMLHttpRequest();
  const form = new FormData();
  form.append("file", file, file.name);
  request.open("POST", box.dataset.uploadsTo);
  request.setRequestHeader("X-CSRFToken", token(box.closest("form")));
  request.setRequestHeader("HX-Request", "true");
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    chip.querySelector("progress").value = loaded / total;
  });
  request.addEventListener("load", () => {
    if (!chip.isConnected) return;
    if (request.status === 201) return replace(chip, request.responseText);
    if (request.getResponseHeader("HX-Retarget")) return refuse(box, chip, request.responseText);
    refuse(box, chip, document.getElementById(request.status === 413 ? "notice-too-large" : "notice-went-wrong").innerHTML);
  });
  request.addEventListener("error", () => refuse(box, chip, document.getElementById("notice-no-answer").innerHTML));
  chip.abort = () => request.abort();
  return new Promise((over) => {
    request.addEventListener("loadend", over);
    request.send(form);
  });
}

// Of several files each refusal says whose it is.
function refuse(box, chip, html) {
  chip.remove();
  arrived(box.closest("form"));
  htmx.swap(noticesOf(box), html, { swapStyle: "beforeend" });
  const name = document.createElement("bdi");
  name.textContent = chip.querySelector(".chip-name").textContent;
  noticesOf(box).lastElementChild.querySelector("p").prepend(name, " – ");
}

const onItsWay = (form) => form.querySelector('.chip:is([data-state="uploading"], [data-state="extracting"])') !== null;

// Whoever was told to wait need not any more.
function arrived(form) {
  if (!onItsWay(form)) form.querySelector(".notice.wait")?.remove();
}

function replace(chip, html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const made = document.importNode(parsed.querySelector(".chip"), true);
  chip.replaceWith(made);
  htmx.process(made); // one that is being read asks for itself until it has been
  arrived(made.closest("form"));
}
document.addEventListener("htmx:load", ({ target }) => target.matches("form .chip") && arrived(target.closest("form")));

document.addEventListener("change", ({ target }) => {
  if (!target.matches?.("[data-attach]")) return;
  add(boxOf(target), target.files);
  target.value = "";
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-detach]");
  if (!button) return;
  const chip = button.closest(".chip");
  const form = chip.closest("form");
  chip.abort?.();
  chip.remove();
  arrived(form);
  form.querySelector("textarea").focus();
});

// Cells of a table and paragraphs of a document are copied with a picture of themselves: the text is what is meant.
const isText = (types) => types.includes("text/plain") && types.includes("text/html");

document.addEventListener("paste", (event) => {
  const { files, types } = event.clipboardData ?? { files: [], types: [] };
  if (!files.length || isText(types) || !boxOf(event.target)) return;
  event.preventDefault();
  add(boxOf(event.target), files);
});

// Anywhere on the page, so that a file that misses the box does not replace the page.
const carriesFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
document.addEventListener("dragover", (event) => {
  const box = document.querySelector(".composer .attachments");
  if (!box || !carriesFiles(event)) return;
  event.preventDefault();
  box.closest(".composer").classList.add("dropping");
});
function dropped() {
  document.querySelector(".composer.dropping")?.classList.remove("dropping");
}
document.addEventListener("dragleave", ({ relatedTarget }) => relatedTarget === null && dropped());
document.addEventListener("drop", (event) => {
  const box = document.querySelector(".composer .attachments");
  dropped();
  if (!box || !carriesFiles(event)) return;
  event.preventDefault();
  add(box, event.dataTransfer.files);
});

// A prompt does not leave without its files.
document.addEventListener("htmx:confirm", (event) => {
  const form = event.target.closest?.(".composer");
  if (!form || event.detail.verb !== "post" || !onItsWay(form)) return;
  event.preventDefault();
  notice(form.querySelector(".attachments"), form.querySelector("[data-wait]"));
});

// A follow-up that was taken leaves the box empty for the next one.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.xhr.status !== 200 || !detail.elt.matches("[data-follow-up]")) return;
  detail.elt.form.querySelector(".attachments .chips").replaceChildren();
});
