import { getCiphers } from 'node:tls';

/** IANA numbers of cipher suites up to TLS 1.2, with their OpenSSL names. */
const names: ReadonlyMap<number, string> = new Map([
  [0x0005, 'RC4-SHA'],
  [0x000a, 'DES-CBC3-SHA'],
  [0x002f, 'AES128-SHA'],
  [0x0035, 'AES256-SHA'],
  [0x003c, 'AES128-SHA256'],
  [0x009c, 'AES128-GCM-SHA256'],
  [0x009d, 'AES256-GCM-SHA384'],
  [0xc007, 'ECDHE-ECDSA-RC4-SHA'],
  [0xc009, 'ECDHE-ECDSA-AES128-SHA'],
  [0xc00a, 'ECDHE-ECDSA-AES256-SHA'],
  [0xc011, 'ECDHE-RSA-RC4-SHA'],
  [0xc012, 'ECDHE-RSA-DES-CBC3-SHA'],
  [0xc013, 'ECDHE-RSA-AES128-SHA'],
  [0xc014, 'ECDHE-RSA-AES256-SHA'],
  [0xc023, 'ECDHE-ECDSA-AES128-SHA256'],
  [0xc027, 'ECDHE-RSA-AES128-SHA256'],
  [0xc02b, 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  [0xc02c, 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  [0xc02f, 'ECDHE-RSA-AES128-GCM-SHA256'],
  [0xc030, 'ECDHE-RSA-AES256-GCM-SHA384'],
  [0xcca8, 'ECDHE-RSA-CHACHA20-POLY1305'],
  [0xcca9, 'ECDHE-ECDSA-CHACHA20-POLY1305'],
]);

/** The suites of TLS 1.3, which the configuration cannot restrict. */
const always = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
const alwaysNumbers = new Set([0x1301, 0x1302, 0x1303]);

/** Cipher suites in OpenSSL's format. */
export interface CipherList {
  readonly list: string;
  /** At least one suite is specific to TLS 1.2. */
  readonly forTls12: boolean;
  /** At least one suite also works with TLS 1.0 and 1.1. */
  readonly forOlder: boolean;
}

let available: ReadonlySet<string> | null = null;

/** True for a suite, by OpenSSL name, that the runtime supports. */
function isAvailable(name: string): boolean {
  available ??= new Set(getCiphers());
  return available.has(name.toLowerCase());
}

/** The IANA numbers of all suites that the runtime supports. */
export function cipherNumbers(): number[] {
  return [...alwaysNumbers, ...[...names].flatMap(([number, name]) => (isAvailable(name) ? [number] : []))];
}

/**
 * Converts IANA numbers to OpenSSL's cipher list.
 * @returns the list, or the first number that the runtime does not know.
 */
export function cipherList(numbers: readonly number[]): CipherList | number {
  const list = always.slice();
  let forTls12 = false;
  let forOlder = false;
  for (const number of numbers) {
    if (alwaysNumbers.has(number)) continue;
    const name = names.get(number);
    if (name === undefined || !isAvailable(name)) return number;
    list.push(name);
    if (name.endsWith('-SHA')) forOlder = true;
    else forTls12 = true;
  }
  return { list: list.join(':'), forTls12, forOlder };
}
