import { ByteStream, Pieces, type Reply } from '#contract';

/** Counter of the memory used by bodies being read. */
export interface Room {
  pendingBytes: number;
}

/**
 * Reads a body as fast as it arrives and passes it on, so that a slow client does not delay requests that wait for the
 * stored response. A body beyond the limit, or one that does not fit into memory, is passed on as usual.
 * @param done called with the whole body, or with null if it is too large or fails; `error` is the reason for the
 * failure.
 * @returns the body to pass on.
 */
export function keepBody(
  body: Reply['body'],
  limitBytes: number,
  room: Room,
  done: (whole: Uint8Array | null, error: Error | null) => void,
): Reply['body'] {
  if (body === null || body instanceof Uint8Array) {
    done(body === null || body.length <= limitBytes ? joined([body ?? empty], body?.length ?? 0) : null, null);
    return body;
  }
  let pieces: Pieces | null = new Pieces();
  let length = 0;
  let keeps = true;
  const settle = (whole: Uint8Array | null, error: Error | null): void => {
    if (!keeps) return;
    keeps = false;
    room.pendingBytes -= length;
    done(whole, error);
  };
  const onward = new ByteStream({
    resume: () => body.resume(),
    cancel(reason) {
      settle(null, reason);
      body.cancel(reason);
    },
  });
  body.flow({
    write(chunk) {
      if (keeps) {
        length += chunk.length;
        room.pendingBytes += chunk.length;
        pieces?.add(chunk);
        if (length > limitBytes || room.pendingBytes > limitBytes) {
          pieces = null;
          settle(null, null);
        }
      }
      const isWanted = onward.write(chunk);
      return keeps || isWanted;
    },
    end() {
      if (keeps) settle(joined([pieces!.join()], length), null);
      onward.end();
    },
    fail(error) {
      settle(null, error);
      onward.fail(error);
    },
  });
  return onward;
}

/** Copies the chunks to memory of their own, because a received chunk is often part of a larger buffer. */
function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

const empty = new Uint8Array();
