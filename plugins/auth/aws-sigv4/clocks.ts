import { ByteStream, type Log, type Reply } from '#contract';

/** A clock that differs by so much from that of AWS, in milliseconds, makes signatures worthless. */
const MAX_SKEW_MS = 5 * 60_000;
/** Hosts whose clocks are remembered; the oldest go first. */
const MAX_HOSTS = 1000;
/** Bytes of a refusal that are read for its code. */
const MAX_BYTES = 1024 * 1024;

/** The errors of AWS for a signature of another time, or that it cannot follow. */
const skewed =
  /RequestTimeTooSkewed|RequestExpired|InvalidSignature|SignatureDoesNotMatch|Signature (?:expired|not yet)/;

/** How far clocks of AWS are ahead of that of the machine, by host. */
export class Clocks {
  readonly #skews = new Map<string, number>();

  /** @returns milliseconds. */
  skewOf(host: string): number {
    return this.#skews.get(host) ?? 0;
  }

  set(host: string, ms: number): void {
    this.#skews.delete(host);
    this.#skews.set(host, ms);
    if (this.#skews.size > MAX_HOSTS) this.#skews.delete(this.#skews.keys().next().value!);
  }
}

/** AWS refuses signatures with 403, its JSON protocols with 400. */
export function mayBeSkewed({ status }: Reply): boolean {
  return status === 403 || status === 400;
}

/**
 * Follows the clock of a host that refuses a signature for its time, where the clock of the machine is wrong: only then is
 * the body of the reply read.
 * @throws Error of a body that breaks off, or is far longer than those of AWS.
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

/** How far a clock is ahead, in milliseconds; an answer that was kept on the way shows when it was made. */
function aheadOf(date = '', age = '0'): number {
  return Date.parse(date) + (/^\d{1,9}$/.test(age) ? Number(age) : 0) * 1000 - Date.now();
}

/** The text of a refusal, in XML or JSON as AWS writes it; its reader gets it afterwards. */
async function readError(reply: Reply): Promise<string> {
  const { body, headers } = reply;
  if (!(body instanceof ByteStream) || !/xml|json/.test(headers.get('content-type') ?? '')) return '';
  const bytes = await body.collect(MAX_BYTES);
  reply.body = bytes;
  return Buffer.from(bytes).toString();
}
