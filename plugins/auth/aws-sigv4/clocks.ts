import { ByteStream, type Log, type Reply } from '#contract';

/** Clock skew at which AWS rejects signatures, in milliseconds. */
const MAX_SKEW_MS = 5 * 60_000;
/** Maximum number of hosts whose clock skew is stored. The oldest entries are removed first. */
const MAX_HOSTS = 1000;
/** Maximum size of an error body that is read for its code, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** Codes of AWS errors that report an expired or future signature, or one that does not match. */
const skewed =
  /RequestTimeTooSkewed|RequestExpired|InvalidSignature|SignatureDoesNotMatch|Signature (?:expired|not yet)/;

/** Clock skew of AWS relative to the local clock, by host. */
export class Clocks {
  readonly #skews = new Map<string, number>();

  /** @returns milliseconds that the host's clock is ahead. */
  skewOf(host: string): number {
    return this.#skews.get(host) ?? 0;
  }

  set(host: string, ms: number): void {
    this.#skews.delete(host);
    this.#skews.set(host, ms);
    if (this.#skews.size > MAX_HOSTS) this.#skews.delete(this.#skews.keys().next().value!);
  }
}

/** Whether a reply may be caused by clock skew. AWS rejects signatures with 403, or with 400 in its JSON protocols. */
export function mayBeSkewed({ status }: Reply): boolean {
  return status === 403 || status === 400;
}

/**
 * Adopts the clock of a host that rejects a signature because the local clock is wrong. The body is read only if the
 * clocks differ too much.
 * @throws Error if the body is truncated or much longer than AWS errors are.
 */
export async function followClock(clocks: Clocks, host: string, reply: Reply, log: Log): Promise<void> {
  const { headers } = reply;
  const aheadMs = aheadOf(headers.get('date'), headers.get('age'));
  if (Number.isNaN(aheadMs) || Math.abs(aheadMs - clocks.skewOf(host)) <= MAX_SKEW_MS) return;
  if (!skewed.test(headers.get('x-amzn-errortype') ?? '') && !skewed.test(await readError(reply))) return;
  clocks.set(host, aheadMs);
  const seconds = Math.round(aheadMs / 1000);
  log.warning(`the local clock differs from AWS (${host}) by ${seconds} seconds; signing with the AWS time`);
}

/**
 * Returns by how much the host's clock is ahead of the local one, in milliseconds. Adds `Age`, because the `Date` of a
 * cached response is the time at which it was created.
 */
function aheadOf(date = '', age = '0'): number {
  return Date.parse(date) + (/^\d{1,9}$/.test(age) ? Number(age) : 0) * 1000 - Date.now();
}

/** Reads an AWS error in XML or JSON. Keeps the body available to later readers. */
async function readError(reply: Reply): Promise<string> {
  const { body, headers } = reply;
  if (!(body instanceof ByteStream) || !/xml|json/.test(headers.get('content-type') ?? '')) return '';
  const bytes = await body.collect(MAX_BYTES);
  reply.body = bytes;
  return Buffer.from(bytes).toString();
}
