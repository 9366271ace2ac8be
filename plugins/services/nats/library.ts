type Library = typeof import('@nats-io/transport-node');

/** What the library's reader has, whose types do not say so. */
interface Reading {
  readonly argBuf?: { readonly length: number };
  readonly dispatcher: { readonly transport: { close(error: Error): Promise<void> } };
}

/** The longest line of a server: that with all servers of its cluster. Messages are 64 MiB at most. */
const LONGEST_LINE_BYTES = 1024 * 1024;

/** Of a reason, which has all that was read in it. */
const REASON_LENGTH = 80;

let loading: Promise<Library> | undefined;

/** The library, loaded at first use. */
export function loadNats(): Promise<Library> {
  loading ??= import('@nats-io/transport-node').then((nats) => {
    endAtNonsense(nats);
    return nats;
  });
  return loading;
}

/**
 * Has the library end a connection over which it reads what is no NATS. By itself it reads no more, collects whatever comes,
 * and notices once its pings fail.
 */
function endAtNonsense({ Parser }: Library): void {
  const { parse } = Parser.prototype;
  Parser.prototype.parse = function parseOrEnd(bytes) {
    const { dispatcher } = this as unknown as Reading;
    try {
      parse.call(this, bytes);
      if (((this as unknown as Reading).argBuf?.length ?? 0) > LONGEST_LINE_BYTES)
        throw new Error('a line without an end');
    } catch (cause) {
      const why = JSON.stringify((cause as Error).message.slice(0, REASON_LENGTH));
      void dispatcher.transport.close(new Error(`the server does not speak the NATS protocol: ${why}`));
    }
  };
}
