/**
 * supported reports whether passkeys (WebAuthn) work here: the browser converts the JSON of the API, and the address of the page is a
 * domain.
 */
export const supported = typeof PublicKeyCredential !== "undefined" && "parseCreationOptionsFromJSON" in PublicKeyCredential && !/^[\d.]+$|:/.test(location.hostname);
