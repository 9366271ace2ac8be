import type { Stream, StreamLease } from '../../pipeline/traffic/stream-lease.ts';
import { Holding } from './holding.ts';

/**
 * Resources of one endpoint: released when the last configuration that holds them has retired and the last stream has
 * ended. There are many, most without a stream.
 */
export class EndpointLease extends Holding implements StreamLease {
  #streams: Set<Stream> | null = null;
  #endsLasting = false;
  #onEmpty: (() => void) | null = null;
  /** Resources shared with other endpoints. */
  #shared: Holding | null = null;

  /** Shares resources with other endpoints; they are released with the last of these endpoints. */
  share(shared: Holding): void {
    shared.adopt();
    this.#shared = shared;
  }

  get streams(): number {
    return this.#streams?.size ?? 0;
  }

  enter(stream: Stream): void {
    this.#streams ??= new Set();
    this.#streams.add(stream);
    if (this.#endsLasting && stream.isLasting) stream.end();
  }

  leave(stream: Stream): void {
    this.#streams?.delete(stream);
    if (this.streams === 0) this.#onEmpty?.();
  }

  end(): void {
    for (const stream of this.#streams ?? []) stream.end();
  }

  endLasting(): void {
    this.#endsLasting = true;
    for (const stream of this.#streams ?? []) if (stream.isLasting) stream.end();
  }

  /** Waits until the active streams of the endpoint have ended, then releases its resources. */
  protected override async finish(onError: (error: unknown) => void): Promise<void> {
    if (this.streams > 0) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
    }
    await this.dispose(onError);
    await this.#shared?.release(onError);
  }
}
