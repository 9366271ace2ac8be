import {
  BackendError,
  CallError,
  CancelledError,
  type ClientView,
  ConfigError,
  type Fix,
  HandlerError,
} from '#contract';
import { notePlaced } from '../../containment/source-columns.ts';
import { stackOf } from '../../containment/source-place.ts';
import { DeadlineError } from '../../contract/internal.ts';
import { isObject } from '../../values/data.ts';

/** An error as sent between threads. */
export interface SentError {
  readonly kind: string;
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string | undefined;
  /** Response to the client for an error of a call; absent for other errors. */
  readonly view?: ClientView;
  readonly upstreamStatus?: number | undefined;
  /** JSON pointer of a configuration error; absent for other errors. */
  readonly pointer?: string;
  readonly hint?: string | undefined;
  readonly fix?: Fix | undefined;
  readonly cause?: SentError | undefined;
}

/** Maximum length of texts, in characters, and maximum depth of causes. */
const LONGEST_MESSAGE = 4096;
const LONGEST_STACK = 16 * 1024;
const DEEPEST = 4;

/** Converts an error to plain data. Never throws, for any thrown value. */
export function sendError(error: unknown, depth = 0): SentError {
  try {
    if (!(error instanceof Error)) return plain('Error', `thrown: ${String(error)}`, '');
    const { name, message } = error;
    const code = (error as { readonly code?: unknown }).code;
    return {
      ...plain(String(name), String(message), stackOf(error)),
      ...(typeof code === 'string' && { code }),
      ...ofKind(error),
      ...(error.cause !== undefined && depth < DEEPEST && { cause: sendError(error.cause, depth + 1) }),
    };
  } catch {
    return plain('Error', 'thrown: a value without a text', '');
  }
}

function plain(name: string, message: string, stack: string): SentError {
  return { kind: 'error', name, message: message.slice(0, LONGEST_MESSAGE), stack: stack.slice(0, LONGEST_STACK) };
}

function ofKind(error: Error): Partial<SentError> {
  if (error instanceof ConfigError) {
    const { pointer, hint, fix } = error;
    return { kind: 'config', pointer, hint, fix };
  }
  if (!(error instanceof CallError)) return {};
  const view = { ...error.view };
  if (error instanceof BackendError) return { kind: 'backend', view, upstreamStatus: error.upstreamStatus };
  if (error instanceof DeadlineError) return { kind: 'deadline' };
  if (error instanceof CancelledError) return { kind: 'cancelled' };
  return { kind: error instanceof HandlerError ? 'handler' : 'call', view };
}

const makers: Readonly<Record<string, (sent: Received) => Error>> = {
  config: ({ code, pointer, message, hint, fix, cause }) =>
    new ConfigError(code, pointer, message, { hint, fix, cause }),
  call: ({ code, message, view, cause }) => new CallError(code, message, { view, cause }),
  handler: ({ code, message, view, cause }) => new HandlerError(code, message, { view, cause }),
  backend: ({ code, message, view, upstreamStatus, cause }) =>
    new BackendError(code, message, { view, cause, ...(upstreamStatus !== undefined && { upstreamStatus }) }),
  deadline: () => new DeadlineError(),
  cancelled: ({ message }) => new CancelledError(message),
};

/** Restores an error. Data of another form than that of `sendError` becomes an error, too. */
export function receiveError(sent: unknown): Error {
  const read = readSent(sent, 0);
  if (Object.hasOwn(makers, read.kind)) return makers[read.kind]!(read);
  const error = new Error(read.message, read.cause && { cause: read.cause });
  const own = { configurable: true, writable: true, enumerable: false };
  Object.defineProperty(error, 'name', { value: read.name, ...own });
  Object.defineProperty(error, 'stack', { value: read.stack || `${read.name}: ${read.message}`, ...own });
  if (read.code !== '') Object.assign(error, { code: read.code });
  return notePlaced(error);
}

/** An error as received, in which each field was checked to have its type. */
interface Received {
  readonly kind: string;
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly code: string;
  readonly pointer: string;
  readonly hint: string | undefined;
  readonly fix: Fix | undefined;
  readonly view: ClientView;
  readonly upstreamStatus: number | undefined;
  readonly cause: Error | undefined;
}

function readSent(sent: unknown, depth: number): Received {
  const given = (isObject(sent) ? sent : {}) as Readonly<Record<string, unknown>>;
  const text = (name: string, most: number): string =>
    typeof given[name] === 'string' ? (given[name] as string).slice(0, most) : '';
  const { upstreamStatus, cause, hint, fix } = given;
  return {
    kind: text('kind', 20),
    name: text('name', 100) || 'Error',
    message: text('message', LONGEST_MESSAGE),
    stack: text('stack', LONGEST_STACK),
    code: text('code', 100),
    pointer: text('pointer', LONGEST_MESSAGE),
    hint: typeof hint === 'string' ? hint.slice(0, LONGEST_MESSAGE) : undefined,
    fix: isObject(fix) ? (fix as unknown as Fix) : undefined,
    view: viewIn(given['view']),
    upstreamStatus: isStatus(upstreamStatus) ? upstreamStatus : undefined,
    cause: isObject(cause) && depth < DEEPEST ? receiveError(cause) : undefined,
  };
}

function viewIn(given: unknown): ClientView {
  const { status, body, contentType, always } = (isObject(given) ? given : {}) as Readonly<Record<string, unknown>>;
  return {
    ...(isStatus(status) && { status }),
    ...((typeof body === 'string' || body instanceof Uint8Array) && { body }),
    ...(typeof contentType === 'string' && /^[\t\x20-\x7e]{1,200}$/.test(contentType) && { contentType }),
    ...(always === true && { always }),
  };
}

function isStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 200 && (value as number) <= 599;
}
