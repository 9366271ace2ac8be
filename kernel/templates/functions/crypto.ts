import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto';
import { Failure } from '../budget.ts';
import { bounded, type Functions, fn } from '../function.ts';

/** Hash, encryption and random functions. */
export const cryptoFunctions: Functions = {
  sha1sum: fn('string', (text) => createHash('sha1').update(text).digest('hex')),
  sha256sum: fn('string', (text) => createHash('sha256').update(text).digest('hex')),
  sha512sum: fn('string', (text) => createHash('sha512').update(text).digest('hex')),
  adler32sum: fn('string', (text) => String(adler32(Buffer.from(text)))),
  uuidv4: fn('', () => randomUUID()),
  randBytes: bounded('int', (run, count) => {
    if (count < 0) throw new Failure(`cannot make ${count} bytes`);
    run.budget.claim(count * 2);
    return randomBytes(count).toString('base64');
  }),
  encryptAES: fn('string string', (password, text) => {
    if (text === '') return '';
    const iv = randomBytes(16);
    const cipher = createCipheriv('aes-256-cbc', keyOf(password), iv);
    return Buffer.concat([iv, cipher.update(text), cipher.final()]).toString('base64');
  }),
  decryptAES: fn('string string', (password, encrypted) => {
    if (encrypted === '') return '';
    const bytes = Buffer.from(encrypted, 'base64');
    try {
      const cipher = createDecipheriv('aes-256-cbc', keyOf(password), bytes.subarray(0, 16));
      return Buffer.concat([cipher.update(bytes.subarray(16)), cipher.final()]).toString();
    } catch {
      throw new Failure('the text cannot be decrypted with this password');
    }
  }),
};

/** The first 32 bytes of a password, padded with zeros. */
function keyOf(password: string): Buffer {
  const key = Buffer.alloc(32);
  Buffer.from(password).copy(key);
  return key;
}

function adler32(bytes: Uint8Array): number {
  let low = 1;
  let high = 0;
  for (const byte of bytes) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  return high * 65_536 + low;
}
