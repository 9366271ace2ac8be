import { channel } from 'node:diagnostics_channel';
import type { Http2Session, Http2Stream } from 'node:http2';

/** The part of a session that Node.js implements natively; undefined while the session is not connected. */
interface Native {
  handle: object | undefined;
}

/** Releases the native part of a session when its stream has been garbage-collected. */
const streams = new FinalizationRegistry<Native>(() => {});

/**
 * Makes an HTTP/2 session outlive its streams. Node.js ends the process if it collects a session before a stream that
 * still holds received header fields: one whose header block is incomplete or too large, destroyed while data for it
 * waits in the socket.
 * @returns a function to call with each stream that can still receive header fields; it costs about 0.3 us.
 */
export function outliveStreams(session: Http2Session): (stream: Http2Stream) => void {
  let native: Native | null = { handle: nativePart(session) };
  session.once('connect', () => {
    if (native) native.handle = nativePart(session);
  });
  session.once('close', () => {
    // Node.js emits no event for streams whose first header block is incomplete. They are freed by the end of this turn
    // of the event loop, so the native part is kept until then.
    setImmediate(() => {
      native = null;
    });
  });
  return (stream) => native && streams.register(stream, native);
}

/** Functions that keep sessions in memory, for the HTTP/2 clients of this thread. */
const clients = new WeakMap<Http2Session, (stream: Http2Stream) => void>();
let outlivesClients = false;

/**
 * Applies `outliveStreams` to all HTTP/2 clients of this thread from now on, including those of libraries. It costs about
 * 0.5 us a request.
 */
export function outliveClientStreams(): void {
  if (outlivesClients) return;
  outlivesClients = true;
  channel('http2.client.stream.created').subscribe((message) => {
    const { stream } = message as { readonly stream: Http2Stream };
    const { session } = stream;
    if (!session) return;
    const outlive = clients.get(session) ?? outliveStreams(session);
    clients.set(session, outlive);
    outlive(stream);
  });
}

/** Reads an undocumented field of Node.js. */
function nativePart(session: Http2Session): object | undefined {
  const key = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'kHandle');
  return key && (session as unknown as Record<symbol, object | undefined>)[key];
}
