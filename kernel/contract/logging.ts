import type { X509Certificate } from 'node:crypto';
import type { Call } from './call.ts';
import type { EndpointConfig } from './config.ts';
import type { HeaderBag } from './headers.ts';
import type { LogLevel } from './log.ts';
import { defineSlot, type Slot } from './slot.ts';

/** An unformatted line of the application log. */
export interface LogLine {
  /** Sequence number of the line in this process. */
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly level: LogLevel;
  /** Prefixes of the source, for example `[ENDPOINT: /path]`; empty without one. Control characters are not escaped. */
  readonly component: string;
  /** Message text. Control characters are not escaped. */
  readonly text: string;
  /** The component's prefixes, followed by the text, for example `[ENDPOINT: /path] text`. */
  readonly message: string;
}

/** Formats a line, including the line break. Must escape line breaks in its values: see `escapeControls`. */
export type LogFormat = (line: LogLine) => string;

/**
 * Destination of log lines. Never blocks and never throws: lines wait in a bounded buffer, and the least severe are
 * dropped first.
 */
export interface LogSink {
  /** True for a terminal, where colors can be used. */
  readonly terminal: boolean;
  /** Number of lines lost because the buffer was full or the destination failed. */
  readonly lost: number;
  /** @param line with its line break. @param level determines which lines are dropped first. */
  write(line: string, level: LogLevel): void;
}

/** A file, pipe or connection that a sink writes to. */
export interface LogDestination {
  readonly terminal?: boolean;
  /**
   * Writes lines and calls `done` once; the next write follows afterwards. Must not block.
   * @param lines UTF-8, each with a line break. Valid until `done` is called.
   */
  write(lines: Uint8Array, done: (error?: Error | null) => void): void;
  /** Writes the remaining lines when the process exits. If it is absent, these lines are lost. */
  writeSync?(lines: Uint8Array): void;
}

/** The log sinks of the process. */
export interface LogSinks {
  readonly stdout: LogSink;
  readonly stderr: LogSink;
  /** Number of lines lost by all sinks. */
  readonly lost: number;
  /**
   * Creates a buffered sink for another destination. `close` writes the rest as far as the destination accepts it
   * synchronously.
   */
  open(destination: LogDestination): LogSink & { close(): void };
}

const silentSink: LogSink = { terminal: false, lost: 0, write() {} };

/** Sinks that discard everything. */
export const silentSinks: LogSinks = {
  stdout: silentSink,
  stderr: silentSink,
  lost: 0,
  open: () => ({ ...silentSink, close() {} }),
};

/** An output of the application log. */
export interface LogOutput {
  readonly sink: LogSink;
  readonly format: LogFormat;
  /** The format belongs to the destination and is not replaced by the `format` of another plugin. */
  readonly fixed?: true;
}

/** A finished request, for the access log and metrics. */
export interface AccessRecord {
  /** Time at which the last byte was written or the client disconnected, in milliseconds since 1970. */
  readonly endedAt: number;
  /** Time from the request headers to `endedAt`, in milliseconds with fractions. */
  readonly latencyMs: number;
  readonly status: number;
  readonly method: string;
  /** Undecoded path without the query, or the path that a component stored in `servedSlot`. */
  readonly path: string;
  /** Undecoded query without `?`. Values of credentials, such as `token`, are replaced with `***`. */
  readonly search: string;
  readonly host: string;
  /** ID of the request; undefined if requests have no IDs. */
  readonly requestId?: string | undefined;
  /** The client's IP address, after applying the trusted-proxy rules. */
  readonly ip: string;
  readonly secure: boolean;
  /** Version of HTTP, for example `1.1`. */
  readonly httpVersion: string;
  readonly requestHeaders: HeaderBag;
  /** Size of the response body in bytes; undefined if middleware wrote a stream. */
  readonly bytesOut?: number | undefined;
  /** True if the response was sent completely. */
  readonly completed: boolean;
  /** Errors that occurred before the response was complete, such as the `errors` of a reply. */
  readonly errors: readonly { readonly message: string }[];
  /** `endpoint` of the matched route; null if none matched. */
  readonly endpoint: string | null;
  /** Module that answered before routing; undefined without one. */
  readonly handledBy?: string | undefined;
  /** The matched route; null if none matched. */
  readonly route: EndpointConfig | null;
  /**
   * TLS version and cipher of the client connection, for example `TLSv1.3` and `TLS_AES_128_GCM_SHA256`; null without
   * TLS and after it has closed.
   */
  readonly tls: { readonly protocol: string; readonly cipher: string } | null;
  /** The client certificate; null without mutual TLS, and after an HTTP/2 connection has closed. */
  readonly certificate: X509Certificate | null;
  /** The call of the request, which holds values that plugins have stored, such as claims; null if no pipe ran. */
  readonly call: Call | null;
}

/**
 * Logging settings of a service-level plugin. Outputs and access logs of several plugins are combined; two plugins that
 * set the same exclusive option are rejected.
 */
export interface Logging {
  /** Lines below this level are not created. */
  readonly level?: LogLevel;
  /** Replaces the kernel's output of the application log; combined with the outputs of other plugins. */
  readonly outputs?: readonly LogOutput[];
  /** Replaces the format of every output that is not `fixed`. */
  readonly format?: LogFormat;
  /** Writes access log entries instead of the built-in line, in addition to other plugins. Exceptions are logged. */
  readonly access?: (record: AccessRecord) => void;
  /** Destination of the built-in access log line. Default: standard output. */
  readonly accessSink?: LogSink;
}

/** Changes to a request before it reached its endpoint. */
export interface ServedAs {
  /** Path and query after rewriting. */
  readonly path?: string;
  readonly search?: string;
  /** Module that answered the request itself. */
  readonly handledBy?: string;
}

/** Slot in which components that run around all endpoints store how they changed a request, for the logs. */
export const servedSlot: Slot<ServedAs> = defineSlot('served');

/** ID of the request, stored by the kernel if `router.request_id` names a header. */
export const requestIdSlot: Slot<string> = defineSlot('request id');

/** Trace of a call, stored by the tracing component; IDs in lowercase hexadecimal. */
export const traceSlot: Slot<{ readonly traceId: string; readonly spanId: string }> = defineSlot('trace');

const controls = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;
const everyControl = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/g;

/** Escapes control characters and line breaks as ` `, `\x1b` and so on, so that no value can forge a log line. */
export function escapeControls(text: string): string {
  return controls.test(text) ? text.replace(everyControl, escapeControl) : text;
}

function escapeControl(mark: string): string {
  if (mark === '\n') return '\\n';
  if (mark === '\r') return '\\r';
  if (mark === '\t') return '\\t';
  const code = mark.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`;
}
