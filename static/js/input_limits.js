// Forms of the administration: says at once when a text or a file is too large, which keeps everything that was typed.
// The server refuses a request of more than a megabyte before it reads the form.
function check(input) {
  const limit = Number(input.dataset.limit);
  const size = input.files ? (input.files[0]?.size ?? 0) : [...input.value].length;
  input.setCustomValidity(size > limit ? input.dataset.tooLarge : "");
}

document.addEventListener("input", ({ target }) => {
  if (!target.dataset?.limit) return;
  check(target);
  target.reportValidity();
});
