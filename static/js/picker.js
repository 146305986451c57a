// Pickers of models: the button of a picker of one shows the choice, and Enter in its search takes the first match.
const pickerOf = (element) => element.closest?.(".model-picker");
const listOf = (picker) => picker.querySelector("[popover]");
let waiting = null; // the picker whose search will answer an Enter

function show(picker) {
  const row = picker.querySelector("input:checked")?.closest("label");
  if (!row) return;
  const parts = [...row.children].filter((part) => part.matches(".model-icon, .model-name"));
  const button = picker.querySelector(".picked");
  button.replaceChildren(...parts.map((part) => part.cloneNode(true)), button.querySelector(".icon"));
}

function takeFirst(picker) {
  waiting = null;
  const input = picker.querySelector(".model-row:not([data-kept]) input:not([value='']):enabled");
  if (!input) return;
  input.checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  listOf(picker).hidePopover();
}

document.addEventListener("change", ({ target }) => {
  if (target.type === "radio" && pickerOf(target)) show(pickerOf(target));
});

// A click of the mouse on a row closes the list; the arrow keys choose among rows of a list that stays open.
document.addEventListener("click", ({ target }) => {
  const row = target.closest?.(".model-picker [popover] label");
  if (row && target.type !== "radio" && !row.querySelector(":disabled")) listOf(pickerOf(row)).hidePopover();
});

document.addEventListener("keydown", (event) => {
  const picker = pickerOf(event.target);
  if (!picker || event.isComposing) return;
  const isSearch = event.target.type === "search";
  if (event.key === "ArrowDown" && isSearch) {
    event.preventDefault();
    (picker.querySelector(".model-rows input:checked") ?? picker.querySelector(".model-rows input:enabled"))?.focus();
  } else if (event.key === "Enter" && listOf(picker)?.contains(event.target)) {
    event.preventDefault(); // it would send the form
    const shown = picker.querySelector(".model-list").dataset.find;
    if (!isSearch) listOf(picker).hidePopover();
    else if (shown === event.target.value.trim().replace(/\s+/g, " ")) takeFirst(picker);
    else waiting = picker;
  }
});

document.addEventListener("htmx:afterSwap", ({ target }) => {
  const picker = target.matches?.(".model-rows") && pickerOf(target);
  if (!picker) return;
  document.getElementById("announcer").textContent = target.querySelector(".model-count").textContent;
  if (waiting === picker) takeFirst(picker);
});

document.addEventListener(
  "toggle",
  ({ target, newState }) => {
    // On a touch screen, its keyboard would cover the list.
    if (newState === "open" && target.matches?.(".model-choices") && matchMedia("(pointer: fine)").matches) {
      target.querySelector("[type=search]").select();
    }
  },
  true,
);
