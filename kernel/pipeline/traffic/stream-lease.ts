import { ByteStream } from '#contract';

/** A response that may continue long after its head was written. */
export interface Stream {
  /** Ends the response gracefully: written data is flushed, and the client sees a complete response. */
  end(): void;
  /**
   * Whether the response lasts until it is ended, like a connection upgraded to another protocol; shutdown does not wait for it.
   */
  readonly isLasting: boolean;
}

/**
 * Keeps one endpoint of one configuration alive. A stream holds its endpoint, not the whole configuration, which may be
 * retired meanwhile.
 */
export interface StreamLease {
  /** Number of active streams. */
  readonly streams: number;
  enter(stream: Stream): void;
  leave(stream: Stream): void;
  /** Ends all streams gracefully. */
  end(): void;
  /** Called at shutdown: ends lasting streams gracefully, including streams that begin later. */
  endLasting(): void;
}

/** Returns a stream of the same bytes; `over` is called once when they have ended, failed or been canceled. */
export function onStreamEnd(body: ByteStream, over: () => void): ByteStream {
  const output = new ByteStream({
    resume: () => body.resume(),
    cancel(reason) {
      over();
      body.cancel(reason);
    },
  });
  body.flow({
    write: (chunk) => output.write(chunk),
    end() {
      over();
      output.end();
    },
    fail(error) {
      over();
      output.fail(error);
    },
  });
  return output;
}
