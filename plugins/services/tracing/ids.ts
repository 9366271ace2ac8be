import { randomFillSync } from 'node:crypto';

/** Random bytes are drawn for many ids at once: one call costs more than the bytes. */
const POOL_BYTES = 8192;
const pool = Buffer.allocUnsafe(POOL_BYTES);
let used = POOL_BYTES;

function randomHex(bytes: number): string {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const text = pool.toString('hex', used, used + bytes);
  used += bytes;
  return text;
}

const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

/** 32 hexadecimal digits, never all zero. */
export function newTraceId(): string {
  const id = randomHex(16);
  return id === noTrace ? newTraceId() : id;
}

/** 16 hexadecimal digits, never all zero. */
export function newSpanId(): string {
  const id = randomHex(8);
  return id === noSpan ? newSpanId() : id;
}

/** True for 32 lower-case hexadecimal digits, not all zero. */
export function isTraceId(text: string): boolean {
  return /^[\da-f]{32}$/.test(text) && text !== noTrace;
}

/** True for 16 lower-case hexadecimal digits, not all zero. */
export function isSpanId(text: string): boolean {
  return /^[\da-f]{16}$/.test(text) && text !== noSpan;
}
