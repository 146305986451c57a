// Attachments of a prompt: chosen, dropped or pasted files are uploaded at once; their chips are sent with the form.
const boxOf = (element) => element.closest("form")?.querySelector(".attachments");

function token(form) {
  return form.querySelector("[name=csrfmiddlewaretoken]").value;
}

const noticesOf = (box) => box.closest("form").querySelector("[data-notices]");

function showNotice(box, template) {
  noticesOf(box).replaceChildren(template.content.cloneNode(true));
}

// One upload after the other: the first may set a new visitor's cookie, which the others have to send.
let uploads = Promise.resolve();

function add(box, files) {
  const chips = box.querySelector(".chips");
  noticesOf(box).replaceChildren(); // remove notices about earlier files
  for (const file of files) {
    if (chips.children.length >= Number(box.dataset.atMost)) return showNotice(box, box.querySelector("[data-too-many]"));
    const chip = box.querySelector("[data-chip]").content.firstElementChild.cloneNode(true);
    chip.querySelector(".chip-name").textContent = file.name;
    chips.append(chip);
    uploads = uploads.then(() => upload(box, chip, file));
  }
}

// XMLHttpRequest, because fetch reports no upload progress.
function upload(box, chip, file) {
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
  return new Promise((resolve) => {
    request.addEventListener("loadend", resolve);
    request.send(form);
  });
}

// Show the refusal with the file's name, as there may be several.
function refuse(box, chip, html) {
  chip.remove();
  removeWaitNotice(box.closest("form"));
  htmx.swap(noticesOf(box), html, { swapStyle: "beforeend" });
  const name = document.createElement("bdi");
  name.textContent = chip.querySelector(".chip-name").textContent;
  noticesOf(box).lastElementChild.querySelector("p").prepend(name, " – ");
}

const hasPendingFiles = (form) =>
  form.querySelector('.chip:is([data-state="uploading"], [data-state="extracting"])') !== null;

function removeWaitNotice(form) {
  if (!hasPendingFiles(form)) form.querySelector(".notice.wait")?.remove();
}

function replace(chip, html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  const uploaded = document.importNode(parsed.querySelector(".chip"), true);
  chip.replaceWith(uploaded);
  htmx.process(uploaded); // a chip polls while its file is being read
  removeWaitNotice(uploaded.closest("form"));
}
document.addEventListener("htmx:load", ({ target }) => target.matches("form .chip") && removeWaitNotice(target.closest("form")));

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
  removeWaitNotice(form);
  form.querySelector("textarea").focus();
});

// Spreadsheets and word processors copy a picture beside the text; the text is pasted then.
const isText = (types) => types.includes("text/plain") && types.includes("text/html");

document.addEventListener("paste", (event) => {
  const { files, types } = event.clipboardData ?? { files: [], types: [] };
  if (!files.length || isText(types) || !boxOf(event.target)) return;
  event.preventDefault();
  add(boxOf(event.target), files);
});

// Files may be dropped anywhere: beside the box, the browser would open them and leave the page.
const carriesFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
document.addEventListener("dragover", (event) => {
  const box = document.querySelector(".composer .attachments");
  if (!box || !carriesFiles(event)) return;
  event.preventDefault();
  box.closest(".composer").classList.add("dropping");
});
function unmarkDropTarget() {
  document.querySelector(".composer.dropping")?.classList.remove("dropping");
}
document.addEventListener("dragleave", ({ relatedTarget }) => relatedTarget === null && unmarkDropTarget());
document.addEventListener("drop", (event) => {
  const box = document.querySelector(".composer .attachments");
  unmarkDropTarget();
  if (!box || !carriesFiles(event)) return;
  event.preventDefault();
  add(box, event.dataTransfer.files);
});

// A prompt is not sent before its files are uploaded and read.
document.addEventListener("htmx:confirm", (event) => {
  const form = event.target.closest?.(".composer");
  if (!form || event.detail.verb !== "post" || !hasPendingFiles(form)) return;
  event.preventDefault();
  showNotice(form.querySelector(".attachments"), form.querySelector("[data-wait]"));
});

// An accepted follow-up clears the box for the next one.
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.xhr.status !== 200 || !detail.elt.matches("[data-follow-up]")) return;
  detail.elt.form.querySelector(".attachments .chips").replaceChildren();
});
