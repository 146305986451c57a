// Shows the browser's colour picker beside a text field with a colour; each follows the other.
for (const picker of document.querySelectorAll("[data-colour-of]")) {
  const field = document.getElementById(picker.dataset.colourOf);
  const follow = () => {
    const colour = field.value.trim();
    if (/^#[0-9a-f]{6}$/i.test(colour)) picker.value = colour;
  };
  picker.hidden = false;
  follow();
  field.addEventListener("input", follow);
  picker.addEventListener("input", () => {
    field.value = picker.value;
  });
}
