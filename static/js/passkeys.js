// Passkeys are offered where a browser takes them: on https or localhost, and never for an address made of numbers.
// Loaded before the page is drawn, so that what is not offered does not flash.
(() => {
  const isNumber = /^[\d.]+$|^\[/.test(location.hostname);
  if (!window.PublicKeyCredential || isNumber) document.documentElement.classList.add("no-passkeys");

  // Whoever closes the browser's question, or has no passkey here, is told how to go on.
  document.addEventListener("allauth.error", (event) => {
    event.preventDefault();
    const notice = document.getElementById("notice-no-passkey").content.cloneNode(true);
    document.getElementById("notices").replaceChildren(notice);
  });
})();
