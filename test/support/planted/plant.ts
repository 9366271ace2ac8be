import { EventEmitter } from 'node:events';
import { MessagePort } from 'node:worker_threads';

/**
 * Wraps the handlers that the gateway registers at emitters and timers, so that each of them can be made to fail. Must be imported before the gateway.
 */

/** Kind of failure: the handler throws, or leaves a rejected promise and does its work. */
export type Kind = 'exception' | 'rejection';

type Handler = (...args: unknown[]) => unknown;

/** Places in the code at which a handler that ran was registered, such as `kernel/server/http1.ts:69 on`. */
export const ran = new Set<string>();

let armed: { readonly site: string; readonly kind: Kind } | null = null;

/** Makes the next handler registered at this place fail. @returns whether it has not failed yet. */
export function arm(site: string, kind: Kind): () => boolean {
  const own = { site, kind };
  armed = own;
  return () => armed === own;
}

export function disarm(): void {
  armed = null;
}

/**
 * Queues of the whole process. Their handlers record that they run and then guard each call; a fault before that, which their code cannot cause, would stop the queue.
 */
const queues: ReadonlySet<string> = new Set([
  'kernel/contract/end-of-turn.ts',
  'kernel/values/yield-scheduler.ts',
  'kernel/logging/sink.ts',
  // The handler in this file runs before the handler of Node.js, whose work it completes.
  'kernel/workers/handovers.ts',
  // Excluded, because the handler of a pause only resolves a promise.
  'plugins/shared/retries/backoff.ts',
]);

const root = new URL('../../../', import.meta.url).href;

/** Modules of Node.js through which a handler is registered at an emitter. */
const passing = /^node:(?:events|internal\/streams\/|net|_tls_wrap|timers)/;

const frames = (_error: Error, stack: NodeJS.CallSite[]): NodeJS.CallSite[] => stack;

/** The callers of this function, without the text of a stack, which takes most of the time of a registration. */
function callers(): NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.prepareStackTrace = frames;
  Error.stackTraceLimit = 10;
  const stack = new Error().stack as unknown as NodeJS.CallSite[];
  Error.stackTraceLimit = stackTraceLimit;
  Error.prepareStackTrace = prepareStackTrace;
  return stack;
}

/** The place in the gateway's code that registers a handler; null if a package or Node.js registers it. */
function siteOf(how: string): string | null {
  for (const caller of callers()) {
    const file = caller.getFileName() ?? '';
    if (file === import.meta.url || passing.test(file)) continue;
    const path = file.startsWith(root) ? file.slice(root.length) : '';
    const isOfGateway = /^(?:kernel|plugins|admin)\//.test(path) && !queues.has(path);
    return isOfGateway ? `${path}:${caller.getLineNumber()} ${how}` : null;
  }
  return null;
}

function planted(handler: Handler, site: string): Handler {
  return function (this: unknown, ...args: unknown[]): unknown {
    ran.add(site);
    if (armed?.site === site) {
      const error = new Error(`planted as ${armed.kind} at ${site}`);
      const { kind } = armed;
      armed = null;
      if (kind === 'exception') throw error;
      void Promise.reject(error);
    }
    return handler.apply(this, args);
  };
}

/** Handlers that already wrap another one. */
const known = new WeakSet<Handler>();

function wrapped(handler: Handler, how: string): Handler {
  if (typeof handler !== 'function' || known.has(handler)) return handler;
  const site = siteOf(how);
  if (site === null) return handler;
  // Makes `off` find a wrapped handler by the original one.
  const result = Object.assign(planted(handler, site), { listener: handler });
  known.add(result);
  return result;
}

type Registering = (this: EventEmitter, name: string | symbol, handler: Handler) => EventEmitter;

const emitters = EventEmitter.prototype as unknown as Record<
  'on' | 'once' | 'addListener' | 'prependListener',
  Registering
>;
const { on, prependListener } = emitters;

emitters.on = function (name, handler) {
  return on.call(this, name, wrapped(handler, `on ${String(name)}`));
};
emitters.addListener = emitters.on;
emitters.prependListener = function (name, handler) {
  return prependListener.call(this, name, wrapped(handler, `on ${String(name)}`));
};
emitters.once = function (name, handler) {
  const inner = wrapped(handler, `once ${String(name)}`);
  const once: Handler & { listener?: Handler } = function (this: unknown, ...args) {
    (this as EventEmitter).off(name, once);
    return inner.apply(this, args);
  };
  once.listener = handler;
  known.add(once);
  // Streams have an `on` of their own, which is wrapped as well.
  return (this.on as Registering).call(this, name, once);
};

const ports = MessagePort.prototype as unknown as Record<'on' | 'once', Registering>;
for (const method of ['on', 'once'] as const) {
  const before = ports[method];
  ports[method] = function (name, handler) {
    return before.call(this, name, wrapped(handler, `${method} ${String(name)}`));
  };
}

const timers = globalThis as unknown as Record<string, (...args: unknown[]) => unknown>;
for (const name of ['setTimeout', 'setInterval', 'setImmediate']) {
  const before = timers[name]!;
  const own = (handler: unknown, ...more: unknown[]) => before(wrapped(handler as Handler, name), ...more);
  timers[name] = Object.defineProperties(own, Object.getOwnPropertyDescriptors(before)) as typeof own;
}
