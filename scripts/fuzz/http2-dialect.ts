import type { Dialect } from './hostile.ts';
import { END_STREAM, type Fields, FRAMES, frame, frameReader, headFrames, PREFACE } from './http2.ts';

/** A response to every request. */
export interface Http2Answer {
  readonly head: Fields;
  readonly body: Buffer;
  /** Empty for none. */
  readonly trailers: Fields;
}

const NOTHING = Buffer.alloc(0);

/** An HTTP/2 server that responds at the end of each request. Its settings, head, body and trailers are one message each. */
export const http2Dialect =
  ({ head, body, trailers }: Http2Answer): Dialect =>
  (socket, say) => {
    say(frame(FRAMES.settings, 0, 0, NOTHING));
    const read = frameReader(({ type, flags, stream, payload }) => {
      if (type === FRAMES.settings && (flags & 1) === 0) say(frame(FRAMES.settings, 1, 0, NOTHING));
      if (type === FRAMES.ping && (flags & 1) === 0) say(frame(FRAMES.ping, 1, 0, payload));
      if ((type !== FRAMES.headers && type !== FRAMES.data) || (flags & END_STREAM) === 0) return;
      const isLast = trailers.length === 0;
      say(headFrames(stream, head, false));
      say(frame(FRAMES.data, isLast ? END_STREAM : 0, stream, body));
      if (!isLast) say(headFrames(stream, trailers, true));
    });
    let left = PREFACE.length;
    socket.on('data', (chunk: Buffer) => {
      const skipped = Math.min(left, chunk.length);
      left -= skipped;
      read(chunk.subarray(skipped));
    });
  };
