import { createGunzip, type Gunzip, gunzipSync } from 'node:zlib';
import { BackendError, ByteStream, type HeaderBag } from '#contract';

/** Source of the compressed bytes. */
export interface Upstream {
  resume(): void;
  cancel(reason: Error): void;
}

/** Maximum compressed size of a complete body that is inflated synchronously, in bytes. */
const AT_ONCE_BYTES = 64 * 1024;
/** Maximum inflated size for synchronous inflation, in bytes. */
const AT_ONCE_OUTPUT_BYTES = 1024 * 1024;

/**
 * Inflates a gzip body while it is received. A small body that has arrived completely before it is read is inflated
 * synchronously; all others are streamed through zlib with backpressure. Fails with `BACKEND_GZIP` on invalid gzip
 * data.
 */
export class Inflater {
  /** The inflated body. */
  readonly body: ByteStream;
  #upstream: Upstream;
  #gunzip: Gunzip | null = null;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #ended = false;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
    this.body = new ByteStream(this);
  }

  /** Receives compressed bytes. @returns false if the upstream should pause. */
  write(chunk: Uint8Array): boolean {
    if (this.#gunzip) return this.#gunzip.write(chunk);
    if (this.#waiting.length === 0) queueMicrotask(() => this.#ended || this.#stream());
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    return true;
  }

  end(): void {
    this.#ended = true;
    if (this.#gunzip) this.#gunzip.end();
    else if (this.#waitingBytes === 0) this.body.end();
    else if (this.#waitingBytes > AT_ONCE_BYTES || !this.#atOnce()) this.#stream().end();
  }

  fail(error: Error): void {
    this.#ended = true;
    this.body.fail(error);
    this.#gunzip?.destroy();
  }

  /** Called by the reader of the inflated body. */
  resume(): void {
    this.#gunzip?.resume();
  }

  /** Called by the reader of the inflated body. */
  cancel(reason: Error): void {
    this.#gunzip?.destroy();
    if (!this.#ended) this.#upstream.cancel(reason);
    this.#ended = true;
  }

  #atOnce(): boolean {
    const [first] = this.#waiting;
    const packed = this.#waiting.length === 1 ? first! : Buffer.concat(this.#waiting, this.#waitingBytes);
    try {
      this.body.write(gunzipSync(packed, { maxOutputLength: AT_ONCE_OUTPUT_BYTES }));
      this.body.end();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return false;
      this.body.fail(broken(error));
    }
    return true;
  }

  #stream(): Gunzip {
    const { body } = this;
    const gunzip = createGunzip();
    this.#gunzip = gunzip;
    gunzip.on('data', (chunk: Uint8Array) => body.write(chunk) || gunzip.pause());
    gunzip.once('end', () => body.end());
    gunzip.on('drain', () => this.#ended || this.#upstream.resume());
    gunzip.once('error', (error) => {
      const failure = broken(error);
      body.fail(failure);
      if (!this.#ended) this.#upstream.cancel(failure);
      this.#ended = true;
    });
    for (const chunk of this.#waiting) gunzip.write(chunk);
    this.#waiting.length = 0;
    return gunzip;
  }
}

function broken(cause: unknown): BackendError {
  return new BackendError('BACKEND_GZIP', `backend: body is not valid gzip: ${(cause as Error).message}`, { cause });
}

/** Whether the body is compressed with gzip. If so, removes its encoding and length, which do not apply to the inflated body. */
export function takeGzip(bag: HeaderBag): boolean {
  const encoding = bag.get('content-encoding')?.toLowerCase();
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return false;
  bag.delete('content-encoding');
  bag.delete('content-length');
  return true;
}
