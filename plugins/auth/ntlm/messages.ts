import { createHmac, randomBytes } from 'node:crypto';
import { md4 } from './md4.ts';

/** Who the gateway is. */
export interface Account {
  readonly name: string;
  /** Null for the domain that the server says. */
  readonly domain: string | null;
  readonly password: string;
}

/** What a server asks. */
export interface Challenge {
  readonly challenge: Buffer;
  readonly targetName: string;
  /** Sent back as it is. */
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
/** Milliseconds from 1601, where the clock of these messages begins, to 1970. */
const EPOCH_MS = 11_644_473_600_000n;
const HEADER_BYTES = 64;

/** `DOMAIN\name`, a name alone, or `name@domain`, which names its domain itself. */
export function accountOf(user: string, password: string): Account {
  const at = user.indexOf('\\');
  if (at >= 0) return { name: user.slice(at + 1), domain: user.slice(0, at), password };
  return { name: user, domain: user.includes('@') ? '' : null, password };
}

/** The message that asks for a challenge. */
export function negotiateMessage(): Buffer {
  const message = Buffer.alloc(32);
  SIGNATURE.copy(message);
  message.writeUInt32LE(NEGOTIATE, 8);
  message.writeUInt32LE(FLAGS, 12);
  return message;
}

/** @returns null for a message that is no challenge, or none with texts in UTF-16. */
export function readChallenge(message: Buffer): Challenge | null {
  if (message.length < 32 || !message.subarray(0, 8).equals(SIGNATURE)) return null;
  const flags = message.readUInt32LE(20);
  if (message.readUInt32LE(8) !== CHALLENGE || !(flags & UNICODE)) return null;
  const targetName = field(message, 12);
  const targetInfo = flags & TARGET_INFO ? field(message, 40) : Buffer.alloc(0);
  if (!targetName || !targetInfo) return null;
  return { challenge: message.subarray(24, 32), targetName: targetName.toString('utf16le'), targetInfo };
}

/** A part of a message, by its length and its place; null for one that is not within it. */
function field(message: Buffer, at: number): Buffer | null {
  if (at + 8 > message.length) return null;
  const length = message.readUInt16LE(at);
  const start = message.readUInt32LE(at + 4);
  return start + length <= message.length ? message.subarray(start, start + length) : null;
}

/** What a password is to an account of a domain. */
export function ntlmv2Hash({ name, password }: Account, domain: string): Buffer {
  return hmac(md4(Buffer.from(password, 'utf16le')), Buffer.from(upperCase(name) + domain, 'utf16le'));
}

/** As Windows has it, one unit for one: what would become several, as `ß`, stays. */
function upperCase(name: string): string {
  return name.replace(/./gsu, (sign) => {
    const upper = sign.toUpperCase();
    return upper.length === sign.length ? upper : sign;
  });
}

/** The message that answers a challenge: NTLMv2, without keys and without anything for older servers. */
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

/** The time of the server where it says one: a clock that is wrong here does no harm then. */
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
