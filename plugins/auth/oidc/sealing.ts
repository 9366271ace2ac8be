import { createCipheriv, createDecipheriv, type DecipherGCM, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts texts. Decrypts only unchanged texts that were encrypted for the same purpose. */
export interface Seal {
  /** Encrypts a text with the first secret. @returns characters of base64url. */
  close(purpose: string, text: string): string;
  /** Decrypts a text with any of the secrets. @returns null for a text that `close` has not created for this purpose. */
  open(purpose: string, sealed: string): string | null;
}

const CIPHER = 'aes-256-gcm';
const SALT_BYTES = 32;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const IV_BYTES = 12;

/**
 * Creates a seal with AES-256-GCM. Key and initialization vector of each text are derived from a random salt (HKDF), so
 * that a secret can encrypt any number of texts. @param secrets the first one encrypts.
 */
export function openSeal(secrets: readonly string[]): Seal {
  const keyAndIv = (secret: string, salt: Uint8Array, purpose: string) => {
    const derived = Buffer.from(hkdfSync('sha256', secret, salt, `sluice oidc ${purpose}`, KEY_BYTES + IV_BYTES));
    return { key: derived.subarray(0, KEY_BYTES), iv: derived.subarray(KEY_BYTES) };
  };
  return {
    close(purpose, text) {
      const salt = randomBytes(SALT_BYTES);
      const { key, iv } = keyAndIv(secrets[0]!, salt, purpose);
      const cipher = createCipheriv(CIPHER, key, iv);
      const encrypted = [cipher.update(text, 'utf8'), cipher.final()];
      return Buffer.concat([salt, ...encrypted, cipher.getAuthTag()]).toString('base64url');
    },
    open(purpose, sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      if (bytes.length < SALT_BYTES + TAG_BYTES) return null;
      const salt = bytes.subarray(0, SALT_BYTES);
      const encrypted = bytes.subarray(SALT_BYTES, -TAG_BYTES);
      const tag = bytes.subarray(-TAG_BYTES);
      for (const secret of secrets) {
        const { key, iv } = keyAndIv(secret, salt, purpose);
        const text = decrypted(createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }), encrypted, tag);
        if (text !== null) return text;
      }
      return null;
    },
  };
}

function decrypted(decipher: DecipherGCM, bytes: Uint8Array, tag: Uint8Array): string | null {
  try {
    decipher.setAuthTag(tag);
    return decipher.update(bytes, undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null;
  }
}
