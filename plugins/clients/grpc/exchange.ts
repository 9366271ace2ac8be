import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { FrameError, FrameReader } from '../../engines/grpc/frames.ts';
import {
  CANCELLED,
  decodeMessage,
  GrpcError,
  INTERNAL,
  OK,
  PERMISSION_DENIED,
  RESOURCE_EXHAUSTED,
  readCode,
  UNAUTHENTICATED,
  UNAVAILABLE,
  UNIMPLEMENTED,
  UNKNOWN,
} from '../../engines/grpc/status.ts';
import type { Connection } from '../http2/connection.ts';
import type { Channel } from './channels.ts';

/** A request with a single message. */
export interface Outgoing {
  readonly headers: Record<string, string | string[]>;
  /** The message including its frame header. */
  readonly frame: Buffer;
}

/** Receiver of the response. */
export interface Incoming {
  /** Receives a decompressed message. */
  message(bytes: Uint8Array): void;
  /** Called once, when the call has ended. @param failure null for status OK. */
  ended(failure: GrpcError | null): void;
}

/** gRPC statuses for HTTP error statuses, which are not sent by gRPC servers but by proxies in front of them. */
const ofHttp: ReadonlyMap<number, number> = new Map([
  [400, INTERNAL],
  [401, UNAUTHENTICATED],
  [403, PERMISSION_DENIED],
  [404, UNIMPLEMENTED],
  [429, UNAVAILABLE],
  [502, UNAVAILABLE],
  [503, UNAVAILABLE],
  [504, UNAVAILABLE],
]);

/** gRPC statuses for HTTP/2 reset codes. */
const ofReset: ReadonlyMap<number, number> = new Map([
  [constants.NGHTTP2_REFUSED_STREAM, UNAVAILABLE],
  [constants.NGHTTP2_CANCEL, CANCELLED],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, RESOURCE_EXHAUSTED],
  [constants.NGHTTP2_INADEQUATE_SECURITY, PERMISSION_DENIED],
]);

/** One call on a connection: sends one message, and receives messages and a status. */
export class Exchange {
  /** Whether the server reported that it has not processed the call. */
  isRefused = false;
  readonly #channel: Channel;
  readonly #idleMs: number;
  readonly #incoming: Incoming;
  readonly #reader: FrameReader;
  #connection: Connection | null = null;
  #bytesBefore = 0;
  #stream: ClientHttp2Stream | null = null;
  #headers: IncomingHttpHeaders | null = null;
  #trailers: IncomingHttpHeaders | null = null;
  #fault: GrpcError | null = null;
  #isOver = false;

  /** @param maxBytes maximum size of one message. */
  constructor(channel: Channel, maxBytes: number, idleMs: number, incoming: Incoming) {
    this.#channel = channel;
    this.#idleMs = idleMs;
    this.#incoming = incoming;
    this.#reader = new FrameReader(maxBytes, ({ isCompressed, bytes }) => {
      if (this.#fault) return;
      if (isCompressed) throw new FrameError('the message is compressed, although the gateway accepts no compression');
      incoming.message(bytes);
    });
  }

  send({ headers, frame }: Outgoing): void {
    const connection = this.#channel.enter();
    this.#connection = connection;
    this.#bytesBefore = connection.bytesRead;
    try {
      this.#stream = connection.open(headers);
    } catch (error) {
      this.#channel.leave(this.#idleMs);
      this.#isOver = true;
      this.#incoming.ended(this.#lost(error as Error));
      return;
    }
    this.#listen(this.#stream, frame);
  }

  #listen(stream: ClientHttp2Stream, frame: Buffer): void {
    stream.on('response', (headers) => this.#begin(headers));
    stream.on('trailers', (headers) => {
      this.#trailers = headers;
    });
    stream.on('data', (chunk: Buffer) => this.#read(chunk));
    stream.on('error', (error) => {
      this.#fault ??= this.#reset(error);
    });
    stream.on('close', () => this.#close());
    stream.end(frame);
  }

  #begin(headers: IncomingHttpHeaders & { ':status'?: number }): void {
    this.#headers = headers;
    const { ':status': status = 0, 'content-type': type = '' } = headers;
    // A gRPC status takes precedence over an HTTP status, because it is more specific.
    if (headers['grpc-status'] !== undefined) return;
    if (status !== 200) this.#fail(ofHttp.get(status) ?? UNKNOWN, `the server returned HTTP status ${status}`);
    else if (!/^application\/grpc(?:[+;]|$)/i.test(type)) {
      this.#fail(UNKNOWN, `the server returned ${type === '' ? 'no content type' : type} instead of gRPC`);
    }
  }

  #read(chunk: Buffer): void {
    if (this.#fault) return;
    try {
      this.#reader.write(chunk);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#fail(error.isTooLarge ? RESOURCE_EXHAUSTED : INTERNAL, error.message);
    }
  }

  /** Fails the call and ignores the rest of the response. */
  #fail(code: number, message: string): void {
    this.#fault ??= new GrpcError(code, message);
    this.#stream?.close(constants.NGHTTP2_CANCEL);
  }

  pause(): void {
    this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }

  /** Cancels the call. @param isLate whether its deadline has passed. */
  cancel(isLate: boolean): void {
    if (this.#isOver) return;
    const connection = this.#connection;
    if (isLate && connection?.bytesRead === this.#bytesBefore) connection.suspect();
    this.#stream?.close(constants.NGHTTP2_CANCEL);
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection!.leave();
    this.#channel.leave(this.#idleMs);
    this.#incoming.ended(this.#fault ?? this.#outcome());
  }

  #outcome(): GrpcError | null {
    const { rstCode = constants.NGHTTP2_NO_ERROR } = this.#stream!;
    const said = this.#trailers?.['grpc-status'] === undefined ? this.#headers : this.#trailers;
    const status = said?.['grpc-status'];
    if (status === undefined) {
      if (rstCode !== constants.NGHTTP2_NO_ERROR || !this.#headers) return this.#reset(null);
      return new GrpcError(UNKNOWN, 'the server closed the call without a status');
    }
    const code = readCode(status);
    const text = said!['grpc-message'];
    if (code !== OK) {
      const detail = typeof text === 'string' ? decodeMessage(text) : '';
      return new GrpcError(code, detail, true, said!['grpc-retry-pushback-ms']?.toString());
    }
    try {
      this.#reader.end();
      return null;
    } catch (error) {
      return new GrpcError(INTERNAL, (error as Error).message);
    }
  }

  #reset(error: Error | null): GrpcError {
    const { rstCode } = this.#stream!;
    const { failure } = this.#connection!;
    if (failure || rstCode === undefined) return this.#lost(failure ?? error ?? new Error('connection closed'));
    this.isRefused = rstCode === constants.NGHTTP2_REFUSED_STREAM;
    const code = ofReset.get(rstCode) ?? INTERNAL;
    return new GrpcError(code, `the server has reset the call (HTTP/2 code ${rstCode})`);
  }

  #lost(error: Error): GrpcError {
    const { host, port } = this.#channel.address;
    const reason = (error as NodeJS.ErrnoException).code ?? error.message;
    return new GrpcError(UNAVAILABLE, `cannot connect to ${host}:${port}: ${reason}`);
  }
}
