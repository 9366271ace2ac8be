import { ByteStream } from '#contract';

/** An answer that may go on long after its head was written. */
export interface Stream {
  /** Ends it in order: what was written is flushed, and the client sees a complete response. */
  end(): void;
  /** It goes on until somebody ends it, as a connection in another protocol: not waited for when the gateway closes. */
  readonly isLasting: boolean;
}

/**
 * What keeps one endpoint of one configuration alive. A stream holds its endpoint, not the whole configuration, which may
 * retire around it.
 */
export interface StreamLease {
  /** Streams under way. */
  readonly streams: number;
  enter(stream: Stream): void;
  leave(stream: Stream): void;
  /** Ends every stream in order. */
  end(): void;
  /** The gateway closes: ends in order what would go on, also what is still to come. */
  endLasting(): void;
}

/** The same bytes; `over` is called once when they have ended, broken off, or are not wanted any more. */
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
