import { FirstUse } from '#contract';

type Library = typeof import('@nats-io/transport-node');

/** Members of the library's parser that are missing from the library's type declarations. */
interface Reading {
  readonly argBuf?: { readonly length: number };
  readonly dispatcher: { readonly transport: { close(error: Error): Promise<void> } };
}

/** Maximum length of a line from a server, in bytes: the longest line lists all servers of the cluster. Messages have a limit of their own, 64 MiB. */
const LONGEST_LINE_BYTES = 1024 * 1024;

/** Length to which a reason is cut, because it contains everything that was read. */
const REASON_LENGTH = 80;

const library = new FirstUse(async () => {
  const nats = await import('@nats-io/transport-node');
  endAtNonsense(nats);
  return nats;
});

/** Loads the library at first use. */
export function loadNats(): Promise<Library> {
  return library.get();
}

/**
 * Makes the library end a connection on invalid data. Without this, the library stops reading, buffers everything that
 * arrives, and detects the failure only when its pings fail.
 */
function endAtNonsense({ Parser }: Library): void {
  const { parse } = Parser.prototype;
  Parser.prototype.parse = function parseOrEnd(bytes) {
    const { dispatcher } = this as unknown as Reading;
    try {
      parse.call(this, bytes);
      if (((this as unknown as Reading).argBuf?.length ?? 0) > LONGEST_LINE_BYTES)
        throw new Error('a line without a line break');
    } catch (cause) {
      const why = JSON.stringify((cause as Error).message.slice(0, REASON_LENGTH));
      void dispatcher.transport.close(new Error(`the server does not speak the NATS protocol: ${why}`));
    }
  };
}
