import { type Dial, dialTcp } from './dial.ts';
import { PATIENCE_MS } from './eventually.ts';
import { END_STREAM, FRAMES, frame, frameReader, PREFACE } from './http2.ts';
import { frameOf, requestOf, type Step } from './http2-steps.ts';
import { afterPatience } from './patience.ts';

/** One HTTP/2 connection of a client. */
export interface Conversation {
  /** Initial window of each stream, in bytes. */
  readonly window: number;
  readonly steps: readonly Step[];
  /** Way of disconnecting: a key of `endings`. */
  readonly end: string;
  /** False when the client reads nothing until it disconnects. Default: true. */
  readonly reads?: boolean;
}

/** Time at which the client disconnects, and the way in which it does. */
interface Ending {
  /** Time after the steps of the connection at which the client disconnects, in milliseconds; null for never. */
  readonly afterMs: number | null;
  /** Part of a response after whose arrival the client disconnects. */
  readonly at?: 'data' | 'answer';
  readonly isReset?: boolean;
}

const endings: Readonly<Record<string, Ending>> = {
  end: { afterMs: 0 },
  wait: { afterMs: 20 },
  reset: { afterMs: 0, isReset: true },
  'wait-reset': { afterMs: 5, isReset: true },
  'data-reset': { afterMs: 20, at: 'data', isReset: true },
  answer: { afterMs: null, at: 'answer' },
};

/**
 * Plays the client's steps, receives the responses, and disconnects.
 * @param dial opens the connection. Default: plain TCP.
 * @param pathOf maps the path of a request to the one to send. @returns bodies of complete responses, by stream.
 */
export function converse(
  port: number,
  { window, steps, end, reads = true }: Conversation,
  pathOf: (path: string, stream: number) => string = (path) => path,
  dial: Dial = dialTcp,
): Promise<Map<number, string>> {
  const script = scriptOf(window, steps, pathOf);
  const { afterMs, at, isReset = false } = endings[end]!;
  const bodies = new Map<number, string>();
  const ended = new Set<number>();
  return new Promise((resolve, reject) => {
    const line = dial(port);
    const { stream: socket } = line;
    const disconnect = (): void => {
      if (isReset) line.reset();
      else socket.end();
      // The socket is read, because it would not notice the end of the connection otherwise.
      socket.resume();
    };
    const closed = afterPatience(PATIENCE_MS, () => {
      socket.destroy();
      reject(new Error(`the gateway keeps a connection that the client has ended for ${PATIENCE_MS} ms`));
    });
    socket
      .on('error', () => {})
      .once('close', () => {
        closed();
        resolve(new Map([...bodies].filter(([stream]) => ended.has(stream))));
      });
    const read = frameReader(({ type, flags, stream, payload }) => {
      if (type === FRAMES.data) {
        if (ended.has(stream)) reject(new Error(`stream ${stream} goes on behind its end`));
        bodies.set(stream, (bodies.get(stream) ?? '') + payload.toString('latin1'));
      }
      if ((type === FRAMES.data || type === FRAMES.headers) && flags & END_STREAM) ended.add(stream);
      if ((at === 'data' && type === FRAMES.data) || (at === 'answer' && ended.size > 0)) disconnect();
    });
    if (reads) socket.on('data', read);
    socket.once(line.ready, async () => {
      for (const part of script) {
        if (typeof part === 'number') for (let turn = 0; turn < part; turn++) await new Promise(setImmediate);
        else socket.write(part);
      }
      if (afterMs === 0) disconnect();
      else if (afterMs !== null) setTimeout(disconnect, afterMs);
    });
  });
}

function settingOf(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUInt16BE(id);
  bytes.writeUInt32BE(value, 2);
  return bytes;
}

/** Sequence of bytes to write and turns of the event loop to wait. */
function scriptOf(
  window: number,
  steps: readonly Step[],
  pathOf: (path: string, stream: number) => string,
): (Buffer | number)[] {
  const script: (Buffer | number)[] = [PREFACE];
  let bytes = frame(FRAMES.settings, 0, 0, settingOf(4, window));
  let stream = -1;
  for (const step of steps) {
    if ('turns' in step) {
      script.push(bytes, step.turns);
      bytes = Buffer.alloc(0);
    } else if ('method' in step) {
      stream += 2;
      bytes = Buffer.concat([bytes, requestOf(step, stream, pathOf(step.path, stream))]);
    } else bytes = Buffer.concat([bytes, frameOf(step)]);
  }
  return [...script, bytes];
}
