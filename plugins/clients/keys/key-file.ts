import { createDecipheriv, createHash } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { Site } from '#contract';
import { KeySet } from './key-set.ts';
import type { KeyServerConfig } from './schema.ts';

const NONCE_BYTES = 24;
const FILE_NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Keys of a local file, cached until its content changes. Codes: `KEYS_FILE`, `KEYS_SECRET`, `KEYS_CYPHER`.
 * @throws ConfigError with what is wrong with the file or with the key it is encrypted with.
 */
export function localKeys(site: Site<unknown>, path: string, config: KeyServerConfig): KeySet {
  let bytes: Uint8Array;
  try {
    bytes = site.read(path);
  } catch (cause) {
    throw site.fault('KEYS_FILE', '/jwk_local_path', `cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
  const opened = config.secret_url === undefined ? bytes : openFile(site, bytes, config.secret_url, config.cypher_key);
  const hash = createHash('sha256').update(opened).digest('base64');
  try {
    return site.keep(['file', hash], () => KeySet.parse(Buffer.from(opened).toString()));
  } catch (cause) {
    throw site.fault('KEYS_FILE', '/jwk_local_path', `${path} cannot be used: ${(cause as Error).message}`, { cause });
  }
}

/** Decrypts a file: AES-256-GCM with a key that is itself encrypted. */
function openFile(site: Site<unknown>, bytes: Uint8Array, secretUrl: string, cypherKey = ''): Uint8Array {
  const key = createHash('md5')
    .update(dataKey(site, secretUrl, cypherKey))
    .digest('hex');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, FILE_NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const sealed = bytes.subarray(FILE_NONCE_BYTES, -TAG_BYTES);
    return Buffer.concat([decipher.update(sealed), decipher.final()]);
  } catch {
    throw site.fault('KEYS_CYPHER', '/jwk_local_path', 'the file cannot be decrypted with secret_url and cypher_key');
  }
}

/** Decrypts the data key of a file with the secret of the configuration. */
function dataKey(site: Site<unknown>, secretUrl: string, cypherKey: string): Uint8Array {
  const [, scheme, rest = ''] = /^([a-z0-9]+):\/\/(.*)$/.exec(secretUrl) ?? [];
  if (scheme !== 'base64key') {
    throw site.fault(
      'KEYS_SECRET',
      '/secret_url',
      `secret_url: ${scheme ?? 'an address without a scheme'} is not supported`,
      {
        hint: 'write base64key:// followed by 32 bytes in base64url',
      },
    );
  }
  const secret = Buffer.from(rest, 'base64url');
  if (secret.length !== 32) throw site.fault('KEYS_SECRET', '/secret_url', 'base64key:// is not followed by 32 bytes');
  const sealed = Buffer.from(cypherKey, 'base64');
  try {
    return xsalsa20poly1305(secret, sealed.subarray(0, NONCE_BYTES)).decrypt(sealed.subarray(NONCE_BYTES));
  } catch {
    throw site.fault('KEYS_CYPHER', '/cypher_key', 'cypher_key cannot be decrypted with the key in secret_url');
  }
}
