import { brand } from '../values/brand.ts';
import type { Data } from '../values/data.ts';

/**
 * What every error of the gateway carries. Codes are `AREA_WHAT` and are listed in the file that makes them. It is an outcome
 * that somebody expects, not a bug, so it has no stack of its own (making one costs more than serving a request); a cause
 * keeps its stack.
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

/** What would make a mistake good without a choice: another name for the key, or another value, at the same pointer. */
export type Fix = { readonly key: string } | { readonly value: Data };

/** What can be told of a mistake beside the mistake itself. */
export interface ConfigErrorOptions {
  /** What to write instead, in words. */
  readonly hint?: string | undefined;
  /** The hint as a change that is safe to apply unasked: it cannot change what a correct configuration means. */
  readonly fix?: Fix | undefined;
  /** The mistake is the key, whatever its value. */
  readonly ofKey?: true | undefined;
  /** Where inside a string value the mistake is, in UTF-16 units of the value; the end is exclusive. */
  readonly within?: { readonly start: number; readonly end: number } | undefined;
  /** JSON pointers of other places that have a part in it. */
  readonly related?: readonly string[];
  readonly cause?: unknown;
}

/**
 * Turns the stack of an error and of its causes into text. Until then it keeps everything alive that was on the stack, which
 * an error that is remembered must not.
 */
export function flattenStack(error: unknown): void {
  for (let at = error; at instanceof Error; at = at.cause) void at.stack;
}

/**
 * A mistake in the configuration: what is wrong, where (JSON pointer) and, when known, what to write instead. It is told and
 * remembered.
 */
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

  /** The same mistake at another place. */
  at(pointer: string, related = this.related): ConfigError {
    const { hint, fix, ofKey, within, cause } = this;
    return new ConfigError(this.code, pointer, this.message, { hint, fix, ofKey, within, related, cause });
  }
}

/** Every mistake found in one configuration. */
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

/** What the client is told of a failed call: a status, and a body with its type where the component documents one. */
export interface ClientView {
  /** HTTP status for the client. Default 500. */
  readonly status?: number;
  /** Replaces the error text as the body; written only when the gateway is to return error messages. */
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  /** The body is written whether or not the gateway is to return error messages: the component documents it so. */
  readonly always?: true;
}

/** A call that failed: the message is the text for the log and, with `return_error_msg`, for the client. */
export class CallError extends GatewayError {
  readonly view: ClientView;

  constructor(code: string, message: string, options: { view?: ClientView; cause?: unknown } = {}) {
    super(code, message, options.cause);
    this.view = options.view ?? {};
  }
}

/** A backend that did not answer, or not as it should. */
export class BackendError extends CallError {
  /** The status the backend really gave; undefined when it gave none. */
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
 * A step was done badly by code that it runs for somebody else, such as a handler: where that code is of a plugin from a file,
 * the cause is counted as a fault of that plugin, and may be passed over. Otherwise the call fails with this error.
 */
export class HandlerError extends CallError {}

/** The deadline of a call passed. */
export class DeadlineError extends CallError {
  constructor() {
    super('CALL_DEADLINE', 'context deadline exceeded');
  }
}

/** The call was aborted: the client left, or another call answered first. Never a failure of the backend. */
export class CancelledError extends CallError {
  constructor(message = 'context canceled') {
    super('CALL_CANCELLED', message);
  }
}

/** A bug of ours: the client is told nothing but `internal server error`; the cause goes to the log. */
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

/** Whatever was thrown, as the error of a call: what is not one already is a fault of ours. */
export function toCallError(error: unknown): CallError {
  return error instanceof CallError ? error : new GatewayFault(error);
}
