import { ConfigError } from '#contract';
import { ConfigErrors, GatewayError } from '../contract/internal.ts';

/** One end of a connection to another process, implemented by `process` and cluster workers. */
export interface Line {
  send?(message: unknown, callback: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

/** Request handlers of this end, by name. */
export type Handlers = Readonly<Record<string, (payload: never) => unknown>>;

type Message =
  | { readonly name: string; readonly payload: unknown; readonly ask?: number }
  | { readonly reply: number; readonly value?: unknown; readonly error?: PlainError };

/** An error as plain data. */
interface PlainError {
  readonly code: string;
  readonly message: string;
  readonly errors?: readonly PlainConfigError[];
}

type PlainConfigError = Pick<ConfigError, 'code' | 'pointer' | 'message' | 'hint' | 'within' | 'related'>;

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Sends requests and notifications to another process. Messages of one turn of the event loop are sent together. */
export class Channel {
  readonly #line: Line;
  readonly #handlers: Handlers;
  readonly #waiting = new Map<number, Waiting>();
  #outgoing: Message[] = [];
  #last = 0;
  #closed: Error | null = null;

  constructor(line: Line, handlers: Handlers) {
    this.#line = line;
    this.#handlers = handlers;
    line.on('message', (messages) => {
      if (Array.isArray(messages)) for (const message of messages as Message[]) this.#take(message);
    });
  }

  /** Sends a message without a response. A message that cannot be sent is lost. */
  notify(name: string, payload: unknown = null): void {
    this.#send({ name, payload });
  }

  /**
   * Sends a request to the other process.
   * @param timeoutMs longest wait for the response; infinite to wait.
   * @throws errors of the other end (ConfigErrors and GatewayErrors keep their class); GatewayError CHANNEL_TIMEOUT or
   * CHANNEL_CLOSED.
   */
  ask(name: string, payload: unknown = null, timeoutMs = Number.POSITIVE_INFINITY): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#closed);
    const id = ++this.#last;
    this.#send({ name, payload, ask: id });
    return new Promise((resolve, reject) => {
      const late = Number.isFinite(timeoutMs)
        ? setTimeout(() => give(new GatewayError('CHANNEL_TIMEOUT', `no response within ${timeoutMs} ms`)), timeoutMs)
        : null;
      const end = () => {
        if (late) clearTimeout(late);
        this.#waiting.delete(id);
      };
      const give = (error: Error) => {
        end();
        reject(error);
      };
      this.#waiting.set(id, {
        resolve: (value) => {
          end();
          resolve(value);
        },
        reject: give,
      });
    });
  }

  /** Called when the other process has exited: pending requests fail. */
  close(): void {
    this.#closed ??= new GatewayError('CHANNEL_CLOSED', 'the process has ended');
    for (const { reject } of [...this.#waiting.values()]) reject(this.#closed);
  }

  #send(message: Message): void {
    if (this.#outgoing.push(message) > 1) return;
    process.nextTick(() => {
      const messages = this.#outgoing;
      this.#outgoing = [];
      // The error is ignored here, because the exit of the other process is reported separately.
      if (!this.#closed) this.#line.send?.(messages, () => {});
    });
  }

  #take(message: Message): void {
    if ('reply' in message) {
      const waiting = this.#waiting.get(message.reply);
      if (message.error) waiting?.reject(toError(message.error));
      else waiting?.resolve(message.value);
      return;
    }
    const { name, payload, ask } = message;
    const handle = this.#handlers[name] as (payload: unknown) => unknown;
    const response = new Promise<unknown>((resolve) => resolve(handle(payload)));
    if (ask === undefined) response.catch(() => {});
    else
      response.then(
        (value) => this.#send({ reply: ask, value }),
        (error: Error) => this.#send({ reply: ask, error: toPlain(error) }),
      );
  }
}

function toPlain(error: Error): PlainError {
  const code = error instanceof GatewayError ? error.code : '';
  if (!(error instanceof ConfigErrors)) return { code, message: code === '' ? String(error.stack) : error.message };
  const errors = error.errors.map(({ code: kind, pointer, message, hint, within, related }) => ({
    code: kind,
    pointer,
    message,
    hint,
    within,
    related,
  }));
  return { code, message: error.message, errors };
}

function toError({ code, message, errors }: PlainError): Error {
  if (!errors) return code === '' ? new Error(message) : new GatewayError(code, message);
  return new ConfigErrors(
    errors.map(({ code: kind, pointer, message: text, ...options }) => new ConfigError(kind, pointer, text, options)),
  );
}
