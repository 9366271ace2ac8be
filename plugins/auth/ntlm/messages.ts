import { createHmac, randomBytes } from 'node:crypto';
import { md4 } from './md4.ts';

/** Account with which the gateway authenticates to a server. */
export interface Account {
  readonly name: string;
  /** Domain; null to use the domain that the server reports. */
  readonly domain: string | null;
  readonly password: string;
}

/** Challenge sent by the server. */
export interface Challenge {
  readonly challenge: Buffer;
  readonly targetName: string;
  /** Data that the client returns to the server unchanged. */
  readonly targetInfo: Buffer;
}

const SIGNATURE = Buffer.from('NTLMSSP\0', 'latin1');
const NEGOTIATE = 1;
const CHALLENGE = 2;
const AUTHENTICATE = 3;

const UNICODE = 0x1;
const REQUEST_TARGET = 0x4;
const NTLM = 0x200;
const ALWAYS_SIGN = 0x8000;
const EXTENDED_SECURITY = 0x80000;
const TARGET_INFO = 0x800000;
const FLAGS = UNICODE | REQUEST_TARGET | NTLM | ALWAYS_SIGN | EXTENDED_SECURITY;

const TIMESTAMP = 7;
/** Milliseconds from 1601, the epoch of NTLM timestamps, to 1970. */
const EPOCH_MS = 11_644_473_600_000n;
const HEADER_BYTES = 64;

/** Parses `DOMAIN ame`, `name`, or `name@domain`, which already contains its domain. */
export function accountOf(user: string, password: string): Account {
  const at = user.indexOf('\\');
  if (at >= 0) return { name: user.slice(at + 1), domain: user.slice(0, at), password };
  return { name: user, domain: user.includes('@') ? '' : null, password };
}

/** NEGOTIATE message, which requests a challenge. */
export function negotiateMessage(): Buffer {
  const message = Buffer.alloc(32);
  SIGNATURE.copy(message);
  message.writeUInt32LE(NEGOTIATE, 8);
  message.writeUInt32LE(FLAGS, 12);
  return message;
}

/** @returns null if the message is not a challenge, or does not use UTF-16. */
export function readChallenge(message: Buffer): Challenge | null {
  if (message.length < 32 || !message.subarray(0, 8).equals(SIGNATURE)) return null;
  const flags = message.readUInt32LE(20);
  if (message.readUInt32LE(8) !== CHALLENGE || !(flags & UNICODE)) return null;
  const targetName = field(message, 12);
  const targetInfo = flags & TARGET_INFO ? field(message, 40) : Buffer.alloc(0);
  if (!targetName || !targetInfo) return null;
  return { challenge: message.subarray(24, 32), targetName: targetName.toString('utf16le'), targetInfo };
}

/** Reads a field of a message by its length and offset; null if it exceeds the message. */
function field(message: Buffer, at: number): Buffer | null {
  if (at + 8 > message.length) return null;
  const length = message.readUInt16LE(at);
  const start = message.readUInt32LE(at + 4);
  return start + length <= message.length ? message.subarray(start, start + length) : null;
}

/** Key derived from the password for an account and a domain. */
export function ntlmv2Hash({ name, password }: Account, domain: string): Buffer {
  return hmac(md4(Buffer.from(password, 'utf16le')), Buffer.from(upperCase(name) + domain, 'utf16le'));
}

/**
 * Converts to uppercase like Windows, unit by unit: characters whose uppercase form is longer, such as `ß`, are kept.
 */
function upperCase(name: string): string {
  return name.replace(/./gsu, (sign) => {
    const upper = sign.toUpperCase();
    return upper.length === sign.length ? upper : sign;
  });
}

/**
 * AUTHENTICATE message, which responds to a challenge with NTLMv2, without session keys and without the older LM
 * response.
 */
export function authenticateMessage(
  account: Account,
  { challenge, targetName, targetInfo }: Challenge,
  nonce = randomBytes(8),
): Buffer {
  const domain = account.domain ?? targetName;
  const head = Buffer.from([1, 1, 0, 0, 0, 0, 0, 0]);
  const blob = Buffer.concat([head, timeOf(targetInfo), nonce, Buffer.alloc(4), targetInfo, Buffer.alloc(4)]);
  const proof = hmac(ntlmv2Hash(account, domain), Buffer.concat([challenge, blob]));
  const lm = Buffer.alloc(24);
  const texts = [domain, account.name, ''].map((text) => Buffer.from(text, 'utf16le'));
  const fields = [lm, Buffer.concat([proof, blob]), ...texts, Buffer.alloc(0)];
  const header = Buffer.alloc(HEADER_BYTES);
  SIGNATURE.copy(header);
  header.writeUInt32LE(AUTHENTICATE, 8);
  let end = HEADER_BYTES;
  for (const [index, { length }] of fields.entries()) {
    const at = 12 + index * 8;
    header.writeUInt16LE(length, at);
    header.writeUInt16LE(length, at + 2);
    header.writeUInt32LE(end, at + 4);
    end += length;
  }
  header.writeUInt32LE(FLAGS | TARGET_INFO, 60);
  return Buffer.concat([header, ...fields]);
}

/** Returns the server's time if it sent one, so that a wrong local clock does not matter. */
function timeOf(targetInfo: Buffer): Buffer {
  for (let at = 0; at + 4 <= targetInfo.length; ) {
    const id = targetInfo.readUInt16LE(at);
    const length = targetInfo.readUInt16LE(at + 2);
    if (id === TIMESTAMP && length === 8 && at + 12 <= targetInfo.length) return targetInfo.subarray(at + 4, at + 12);
    if (id === 0) break;
    at += 4 + length;
  }
  const time = Buffer.alloc(8);
  time.writeBigUInt64LE((BigInt(Date.now()) + EPOCH_MS) * 10_000n);
  return time;
}

function hmac(key: Buffer, data: Buffer): Buffer {
  return createHmac('md5', key).update(data).digest();
}
