import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type ClientRequest, toCallError } from '#contract';
import { type Frame, FrameError, FrameReader } from '../../engines/grpc/frames.ts';
import { INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED } from '../../engines/grpc/status.ts';
import { StatusError } from './status-reply.ts';

const gunzipAll = promisify(gunzip);

/**
 * Reads the single message of a call, decompressed, once its client has sent everything. Rejects with a StatusError, or
 * with the reason why the rest does not arrive.
 * @param limitBytes maximum length of the message, compressed or not.
 */
export async function readMessage(request: ClientRequest, limitBytes: number): Promise<Uint8Array> {
  const { isCompressed, bytes } = await onlyFrame(request, limitBytes);
  if (!isCompressed) return bytes;
  const coding = request.headers.get('grpc-encoding') ?? 'identity';
  if (coding === 'identity') {
    throw new StatusError(INVALID_ARGUMENT, 'a message is compressed, but the call has no grpc-encoding');
  }
  try {
    return await gunzipAll(bytes, { maxOutputLength: limitBytes });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      throw new StatusError(RESOURCE_EXHAUSTED, `a message of more than ${limitBytes} bytes`);
    }
    throw new StatusError(INVALID_ARGUMENT, `a message is not valid gzip: ${message}`);
  }
}

/** Tells whether a message coding is supported. */
export function isKnownCoding(coding: string | undefined): boolean {
  return coding === undefined || coding === 'identity' || coding === 'gzip';
}

function onlyFrame({ body }: ClientRequest, limitBytes: number): Promise<Frame> {
  return new Promise((resolve, reject) => {
    let only: Frame | null = null;
    const reader = new FrameReader(limitBytes, (frame) => {
      if (only) throw new StatusError(UNIMPLEMENTED, 'the method accepts only one message');
      only = frame;
    });
    const end = (): void => {
      reader.end();
      if (!only) throw new StatusError(UNIMPLEMENTED, 'the method requires a message');
      resolve(only);
    };
    const trying = (step: () => void): boolean => {
      try {
        step();
        return true;
      } catch (error) {
        reject(error instanceof FrameError ? statusOf(error) : error);
        return false;
      }
    };
    const source = body?.take() ?? nothing;
    if (source instanceof Uint8Array) {
      if (trying(() => reader.write(source))) trying(end);
      return;
    }
    source.on('data', (chunk: Uint8Array) => {
      // The rest of the data is discarded when the reply is sent.
      if (!trying(() => reader.write(chunk))) source.pause().removeAllListeners('data');
    });
    source.once('end', () => trying(end));
    source.once('error', (error) => reject(toCallError(error)));
  });
}

const nothing = new Uint8Array();

function statusOf({ isTooLarge, message }: FrameError): StatusError {
  return new StatusError(isTooLarge ? RESOURCE_EXHAUSTED : INVALID_ARGUMENT, message);
}
