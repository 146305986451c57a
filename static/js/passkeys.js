// Hides passkeys where browsers do not support them: without HTTPS except on localhost, and on IP addresses.
// Loaded before the page is drawn, so that hidden elements do not flash.
(() => {
  const isIpAddress = /^[\d.]+$|^\[/.test(location.hostname);
  if (!window.PublicKeyCredential || isIpAddress) document.documentElement.classList.add("no-passkeys");

  // The browser's dialog was closed, or there is no passkey on this device.
  document.addEventListener("allauth.error", (event) => {
    event.preventDefault();
    const notice = document.getElementById("notice-no-passkey").content.cloneNode(true);
    document.getElementById("notices").replaceChildren(notice);
  });
})();
