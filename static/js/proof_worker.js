// Solves an ALTCHA challenge: tries counters until the derived key starts with the required prefix.
const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, "0")).join("");

onmessage = async ({ data: challenge }) => {
  const { nonce, salt, cost, keyLength, keyPrefix } = challenge.parameters;
  const algorithm = { name: "PBKDF2", hash: "SHA-256", salt: bytes(salt), iterations: cost };
  const password = Uint8Array.of(...bytes(nonce), 0, 0, 0, 0);
  const end = new DataView(password.buffer, password.length - 4);
  for (let counter = 0; ; counter++) {
    end.setUint32(0, counter);
    const key = await crypto.subtle.importKey("raw", password, "PBKDF2", false, ["deriveBits"]);
    const derivedKey = hex(await crypto.subtle.deriveBits(algorithm, key, keyLength * 8));
    if (!derivedKey.startsWith(keyPrefix)) continue;
    postMessage(btoa(JSON.stringify({ challenge, solution: { counter, derivedKey } })));
    return;
  }
};
