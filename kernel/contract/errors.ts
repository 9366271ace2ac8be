import { brand } from '../values/brand.ts';
import type { Data } from '../values/data.ts';

/**
 * Base class of all gateway errors. Codes have the form `AREA_WHAT` and are listed in the file that creates them. A
 * gateway error is an expected outcome, not a bug, so it has no stack (creating one costs more than serving a request);
 * its cause keeps its stack.
 */
export class GatewayError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = new.target.name;
    this.code = code;
  }
}

/** A correction without alternatives: another key name or another value at the same pointer. */
export type Fix = { readonly key: string } | { readonly value: Data };

/** Additional information about a configuration error. */
export interface ConfigErrorOptions {
  /** Correction, in words. */
  readonly hint?: string | undefined;
  /**
   * The correction as a change that can be applied automatically, because it cannot change the meaning of a correct
   * configuration.
   */
  readonly fix?: Fix | undefined;
  /** Whether the key itself is wrong, rather than its value. */
  readonly ofKey?: true | undefined;
  /** Range of the error within a string value, in UTF-16 units; the end is exclusive. */
  readonly within?: { readonly start: number; readonly end: number } | undefined;
  /** JSON pointers of other places involved in the error. */
  readonly related?: readonly string[];
  readonly cause?: unknown;
}

/**
 * Converts the stacks of an error and its causes to text. Unconverted stacks keep all objects of their call frames in
 * memory, so errors that are stored need this.
 */
export function flattenStack(error: unknown): void {
  for (let at = error; at instanceof Error; at = at.cause) void at.stack;
}

/** A configuration error: message, JSON pointer and, if known, a correction. */
export class ConfigError extends GatewayError {
  readonly pointer: string;
  readonly hint: string | undefined;
  readonly fix: Fix | undefined;
  readonly ofKey: ConfigErrorOptions['ofKey'];
  readonly within: ConfigErrorOptions['within'];
  readonly related: readonly string[];

  constructor(code: string, pointer: string, message: string, options: ConfigErrorOptions = {}) {
    super(code, message, options.cause);
    flattenStack(options.cause);
    this.pointer = pointer;
    this.hint = options.hint;
    this.fix = options.fix;
    this.ofKey = options.ofKey;
    this.within = options.within;
    this.related = options.related ?? [];
  }

  /** A copy of the error for another place. */
  at(pointer: string, related = this.related): ConfigError {
    const { hint, fix, ofKey, within, cause } = this;
    return new ConfigError(this.code, pointer, this.message, { hint, fix, ofKey, within, related, cause });
  }
}

/** All errors found in a configuration. */
export class ConfigErrors extends GatewayError {
  readonly errors: readonly ConfigError[];

  constructor(errors: readonly ConfigError[]) {
    super(
      'CONFIG_INVALID',
      errors.map((error) => `${error.pointer || '/'}  ${error.code}  ${error.message}`).join('\n'),
    );
    this.errors = errors;
  }
}

/** Response to the client for a failed call: status, and body with content type if the component documents one. */
export interface ClientView {
  /** HTTP status for the client. Default: 500. */
  readonly status?: number;
  /** Replaces the error message as the body. Written only if the gateway returns error messages. */
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  /** Writes the body even if the gateway does not return error messages. */
  readonly always?: true;
}

/** A failed call. The message is written to the log and, with `return_error_msg`, sent to the client. */
export class CallError extends GatewayError {
  readonly view: ClientView;

  constructor(code: string, message: string, options: { view?: ClientView; cause?: unknown } = {}) {
    super(code, message, options.cause);
    this.view = options.view ?? {};
  }
}

/** Error of a backend that did not respond, or sent an invalid response. */
export class BackendError extends CallError {
  /** Status returned by the backend; undefined if it returned none. */
  readonly upstreamStatus: number | undefined;

  constructor(
    code: string,
    message: string,
    options: { upstreamStatus?: number; view?: ClientView; cause?: unknown } = {},
  ) {
    super(code, message, options);
    this.upstreamStatus = options.upstreamStatus;
  }
}

/**
 * A fault of code that a step runs for a plugin, such as a handler. If that plugin was loaded from a file, the fault is
 * attributed to it and can be skipped by its policy. Otherwise the call fails with this error.
 */
export class HandlerError extends CallError {}

/** The deadline of a call expired. */
export class DeadlineError extends CallError {
  constructor() {
    super('CALL_DEADLINE', 'context deadline exceeded');
  }
}

/**
 * The call was aborted because the client disconnected or another call responded first. Never a failure of the backend.
 */
export class CancelledError extends CallError {
  constructor(message = 'context canceled') {
    super('CALL_CANCELLED', message);
  }
}

/** A bug in the gateway: the client receives only `internal server error`; the cause is logged. */
export class GatewayFault extends CallError {
  constructor(cause: unknown) {
    super('GATEWAY_FAULT', 'internal server error', { cause });
  }
}

brand({
  GatewayError,
  ConfigError,
  ConfigErrors,
  CallError,
  BackendError,
  DeadlineError,
  CancelledError,
  GatewayFault,
  HandlerError,
});

/** Converts any thrown value into a call error. Values that are not call errors become gateway faults. */
export function toCallError(error: unknown): CallError {
  return error instanceof CallError ? error : new GatewayFault(error);
}
