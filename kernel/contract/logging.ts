import type { X509Certificate } from 'node:crypto';
import type { Call } from './call.ts';
import type { EndpointConfig } from './config.ts';
import type { HeaderBag } from './headers.ts';
import type { LogLevel } from './log.ts';
import { defineSlot, type Slot } from './slot.ts';

/** One line of the application log, before it is formatted. */
export interface LogLine {
  /** Counts the lines of this process. */
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly level: LogLevel;
  /** The prefixes of what tells it, as in `[ENDPOINT: /path]`; empty for none. Control characters are not escaped yet. */
  readonly component: string;
  /** What is told, likewise. */
  readonly text: string;
  /** Both, as in `[ENDPOINT: /path] text`. */
  readonly message: string;
}

/** Makes the text of a line, line break included. Must escape what could break the line: see `escapeControls`. */
export type LogFormat = (line: LogLine) => string;

/** Where lines go. Never blocks and never throws: lines wait in a bounded buffer, and the least important go first. */
export interface LogSink {
  /** True when a person may be looking: colours are welcome. */
  readonly terminal: boolean;
  /** Lines lost so far, because the buffer was full or the destination failed. */
  readonly lost: number;
  /** @param line with its line break. @param level decides which lines are dropped first. */
  write(line: string, level: LogLevel): void;
}

/** What a sink writes to: a file, a pipe, a connection. */
export interface LogDestination {
  readonly terminal?: boolean;
  /**
   * Writes the lines and calls `done` once; nothing more is written until then. Must not block.
   * @param lines as UTF-8, each with its line break. Valid until `done` is called.
   */
  write(lines: Uint8Array, done: (error?: Error | null) => void): void;
  /** Writes what is left when the process exits; what has no such way loses it. */
  writeSync?(lines: Uint8Array): void;
}

/** The sinks of the process. */
export interface LogSinks {
  readonly stdout: LogSink;
  readonly stderr: LogSink;
  /** Lines lost so far by all sinks. */
  readonly lost: number;
  /** A buffered sink over another destination; `close` writes the rest, as far as the destination takes it at once. */
  open(destination: LogDestination): LogSink & { close(): void };
}

const silentSink: LogSink = { terminal: false, lost: 0, write() {} };

/** Sinks that drop everything. */
export const silentSinks: LogSinks = {
  stdout: silentSink,
  stderr: silentSink,
  lost: 0,
  open: () => ({ ...silentSink, close() {} }),
};

/** One way the application log is written. */
export interface LogOutput {
  readonly sink: LogSink;
  readonly format: LogFormat;
  /** The format belongs to the destination and no other plugin's `format` replaces it. */
  readonly fixed?: true;
}

/** A finished request, as the access log and those who measure see it. */
export interface AccessRecord {
  /** When the last byte was written or the client left, in milliseconds since 1970. */
  readonly endedAt: number;
  /** From the request's head to `endedAt`, in milliseconds with fractions. */
  readonly latencyMs: number;
  readonly status: number;
  readonly method: string;
  /** Path as on the wire, without the query; the one it was given instead, where a component has left that in `servedSlot`. */
  readonly path: string;
  /** Query as on the wire, without `?`; credentials in it, as the value of `token`, are `***`. */
  readonly search: string;
  readonly host: string;
  /** As of `requestIdSlot`; absent where requests have no ids. */
  readonly requestId?: string | undefined;
  /** The client's address, after the trusted-proxy rule. */
  readonly ip: string;
  readonly secure: boolean;
  /** As in `1.1`. */
  readonly httpVersion: string;
  readonly requestHeaders: HeaderBag;
  /** Bytes of the response's body as written; undefined where middleware wrote a stream. */
  readonly bytesOut?: number | undefined;
  /** The response was written to its end. */
  readonly completed: boolean;
  /** What failed on the way to the response; a reply's `errors` fit. */
  readonly errors: readonly { readonly message: string }[];
  /** The `endpoint` of the route that answered; null when none matched. */
  readonly endpoint: string | null;
  /** The component's module that answered by itself, before any route was looked for; absent for none. */
  readonly handledBy?: string | undefined;
  /** That route; null when none matched. */
  readonly route: EndpointConfig | null;
  /** The client's connection, as in `TLSv1.3` and `TLS_AES_128_GCM_SHA256`; null without TLS and once it is closed. */
  readonly tls: { readonly protocol: string; readonly cipher: string } | null;
  /** The certificate that the client has shown; null without mutual TLS, and once a connection of HTTP/2 is closed. */
  readonly certificate: X509Certificate | null;
  /** Carries what plugins left, such as the claims; null when no pipe ran. */
  readonly call: Call | null;
}

/**
 * What a service-level plugin does with the logs of its configuration. Outputs and access logs of several plugins add up; of
 * what one alone can decide, two that do are refused.
 */
export interface Logging {
  /** Lines below it are not even made. */
  readonly level?: LogLevel;
  /** Replace the kernel's own way of writing the application log, together with those of other plugins. */
  readonly outputs?: readonly LogOutput[];
  /** Replaces the format of every output that is not `fixed`. */
  readonly format?: LogFormat;
  /** Writes the access log instead of the built-in line, besides those of other plugins. What it throws is logged. */
  readonly access?: (record: AccessRecord) => void;
  /** Where the built-in access line goes. Default: standard output. */
  readonly accessSink?: LogSink;
}

/** What became of a request on the way to its endpoint. */
export interface ServedAs {
  /** The path and the query it goes on with. */
  readonly path?: string;
  readonly search?: string;
  /** Who answered by itself. */
  readonly handledBy?: string;
}

/** Left by what stands around everything, for the logs. */
export const servedSlot: Slot<ServedAs> = defineSlot('served');

/** The id of the request, left by the kernel where `router.request_id` names a header. */
export const requestIdSlot: Slot<string> = defineSlot('request id');

/** The trace a call belongs to, left by whoever traces; ids in lower-case hexadecimal. */
export const traceSlot: Slot<{ readonly traceId: string; readonly spanId: string }> = defineSlot('trace');

const controls = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;
const everyControl = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/g;

/** Shows control characters and line breaks as `\n`, `\x1b` and the like, so that no value can forge a line. */
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
