// Passkeys (WebAuthn). The API sends and receives their data as JSON texts.
import { api, newKey } from "../../api/api";
import { Problem } from "../../api/problem";
import { explained } from "./problems";

/** Assertion is the response of a passkey that the user has used. */
export interface Assertion {
  ceremonyId: string;
  assertion: string;
}

/**
 * asked opens a dialog of the browser, and returns the response of the passkey as JSON. It returns undefined if the user closed the
 * dialog, or it expired.
 */
async function asked(open: () => Promise<Credential | null>): Promise<string | undefined> {
  try {
    const credential = (await open()) as PublicKeyCredential | null;
    return credential ? JSON.stringify(credential.toJSON()) : undefined;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    if (["NotAllowedError", "AbortError"].includes(error.name)) return undefined;
    // The device has a passkey of this user, or the page has another domain than PUBLIC_URL.
    throw new Problem(error.name === "InvalidStateError" ? "PASSKEY_EXISTS" : "PASSKEYS_UNAVAILABLE", error.message);
  }
}

/** createPasskey asks the user to create a passkey, and returns it with new recovery codes, if there are any. */
export function createPasskey(name: string) {
  return explained(async () => {
    const { ceremonyId, options } = await api.post("/api/v1/auth/passkeys/options", { body: {}, key: newKey() });
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(options) as PublicKeyCredentialCreationOptionsJSON);
    const credential = await asked(() => navigator.credentials.create({ publicKey }));
    return credential && (await api.post("/api/v1/auth/passkeys", { body: { ceremonyId, credential, name }, key: newKey() }));
  });
}

/** usePasskey asks the user for a passkey, and sends its response. */
export function usePasskey(send: (assertion: Assertion) => Promise<void>): Promise<void> {
  return explained(async () => {
    const { ceremonyId, options } = await api.post("/api/v1/auth/login/passkey/options", { body: {} });
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(options) as PublicKeyCredentialRequestOptionsJSON);
    const assertion = await asked(() => navigator.credentials.get({ publicKey }));
    if (assertion) await send({ ceremonyId, assertion });
  });
}
