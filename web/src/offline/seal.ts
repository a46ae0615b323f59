// Encryption of what stays on the device after the session of its user has ended. The server
// returns the key of a user with each sign-in and refresh. While the user is signed in, the key is
// stored as one that scripts cannot export, so that the queue also works when the page opens
// without a connection. The end of the session deletes it (ADR 109).
import { read, write } from "./store";

const cipher = "AES-GCM";
const nonceSize = 12;

/** Sealed is a nonce and the encrypted value. */
export type Sealed = Uint8Array<ArrayBuffer>;

/** keepKey stores the user's key from base64url; a server of an earlier release returns none. */
export async function keepKey(text: string | undefined): Promise<void> {
  if (!text) return;
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );
  await write("device", [
    "key",
    await crypto.subtle.importKey("raw", bytes, cipher, false, ["encrypt", "decrypt"]),
  ]);
}

function storedKey(): Promise<CryptoKey | undefined> {
  return read<CryptoKey>("device", "key");
}

/** hasKey reports whether the device can seal and open values of the signed-in user. */
export async function hasKey(): Promise<boolean> {
  return Boolean(await storedKey());
}

async function key(): Promise<CryptoKey> {
  const stored = await storedKey();
  if (!stored) throw new Error("the device has no key of this user");
  return stored;
}

const algorithm = (nonce: Uint8Array<ArrayBuffer>, use: string) => ({ name: cipher, iv: nonce, additionalData: new TextEncoder().encode(use) });

/** seal encrypts a value for a use, such as the name of its row. It rejects without a key. */
export async function seal(use: string, value: BufferSource): Promise<Sealed> {
  const nonce = crypto.getRandomValues(new Uint8Array(nonceSize));
  const encrypted = await crypto.subtle.encrypt(algorithm(nonce, use), await key(), value);
  const sealed = new Uint8Array(nonceSize + encrypted.byteLength);
  sealed.set(nonce);
  sealed.set(new Uint8Array(encrypted), nonceSize);
  return sealed;
}

/** unseal decrypts what seal returned for the same use. It rejects for another key. */
export async function unseal(use: string, sealed: Sealed): Promise<ArrayBuffer> {
  return crypto.subtle.decrypt(algorithm(sealed.slice(0, nonceSize), use), await key(), sealed.slice(nonceSize));
}
