import { randomBytes } from 'node:crypto';
import { frozen } from '#contract';

/** Random bytes for many ids, formatted at once: each id is then a slice of a string, which is ten times cheaper. */
const POOL_BYTES = 4096;
let pool = '';
let used = 0;

function randomHex(digits: number): string {
  // While a recorded request is repeated, ids must not come from the pool, because they would differ from the recorded
  // ids.
  if (frozen()) return randomBytes(digits / 2).toString('hex');
  if (used + digits > pool.length) {
    pool = randomBytes(POOL_BYTES).toString('hex');
    used = 0;
  }
  used += digits;
  return pool.slice(used - digits, used);
}

const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

/** Generates a trace ID: 32 hexadecimal digits, never all zero. */
export function newTraceId(): string {
  const id = frozen()?.traceId ?? randomHex(32);
  return id === noTrace ? newTraceId() : id;
}

/** Generates a span ID: 16 hexadecimal digits, never all zero. */
export function newSpanId(): string {
  const id = randomHex(16);
  return id === noSpan ? newSpanId() : id;
}

/** Whether the text is 32 lower-case hexadecimal digits, not all zero. */
export function isTraceId(text: string): boolean {
  return /^[\da-f]{32}$/.test(text) && text !== noTrace;
}

/** Whether the text is 16 lower-case hexadecimal digits, not all zero. */
export function isSpanId(text: string): boolean {
  return /^[\da-f]{16}$/.test(text) && text !== noSpan;
}
