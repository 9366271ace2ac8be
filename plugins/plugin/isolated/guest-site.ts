import {
  type ActiveSpan,
  type Call,
  ConfigError,
  defineSlot,
  HeaderBag,
  type Line,
  type Log,
  type LogLevel,
  type LogMessage,
  type Meter,
  meters,
  type PipeRequest,
  type Port,
  Reply,
  type Slot,
  type Tracer,
  toCallError,
  tracers,
} from '#contract';
import { type RedisConnection, redisConnections } from '../../clients/redis/port.ts';
import { type Quota, quotas } from '../../shared/ports/quotas.ts';
import type { HostSite } from '../lib/host.ts';
import { Allowance } from './allowance.ts';
import { bytesIn, copyOf, fieldsOf, type SentReply, wholeBody } from './wire.ts';

/** Description of a handler's place, as sent to the thread. */
export interface SentPlace {
  readonly kind: string;
  readonly name: string;
  /** Configuration of the component, as JSON text. */
  readonly config: string;
  readonly raw: boolean;
  /** Pointer to the component's configuration; the pointer to the handler's name is relative to it. */
  readonly pointer: string;
  readonly namePointer: string;
  readonly version: string;
  readonly endpoint: { readonly method: string; readonly endpoint: string } | null;
  readonly backend: { readonly method: string; readonly url_pattern: string } | null;
  readonly connections: readonly string[];
  /** Names of the rules, by quota. */
  readonly quotas: ReadonlyMap<string, readonly string[]>;
  readonly measures: boolean;
  readonly traces: boolean;
}

/** Number of the run that a call belongs to. */
export const runSlot: Slot<number> = defineSlot('run');

/** Site of a handler in its thread: provides the site features that hosts need, over the channel to the gateway. */
export class GuestSite {
  readonly #line: Line;
  readonly #place: SentPlace;
  readonly #warmups: ((signal: AbortSignal) => Promise<void>)[] = [];
  readonly #disposers: (() => void | Promise<void>)[] = [];
  readonly #lines = new Allowance(MOST_LINES);

  constructor(line: Line, place: SentPlace) {
    this.#line = line;
    this.#place = place;
  }

  /** Runs the tasks that must finish before the handler serves its endpoint, backend or service. */
  async warmUp(signal: AbortSignal): Promise<void> {
    for (const task of this.#warmups) await task(signal);
  }

  /** Runs the callbacks registered for the end, last one first. Logs failures. */
  async dispose(): Promise<void> {
    for (const dispose of this.#disposers.splice(0).reverse()) {
      try {
        await dispose();
      } catch (error) {
        this.log.error(`onDispose failed: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  get log(): Log {
    return guestLog(this.#line, this.#lines, []);
  }

  /** The part of a site that hosts and handlers use; the rest is missing. */
  get site(): HostSite {
    const place = this.#place;
    const line = this.#line;
    const taken = new Map<Port<unknown>, unknown>([
      [redisConnections, new Map(place.connections.map((name) => [name, guestConnection(line, name)]))],
      [quotas, new Map([...place.quotas].map(([name, rules]) => [name, guestQuota(line, name, rules)]))],
      ...(place.traces ? [[tracers, guestTracer(line)] as const] : []),
    ]);
    const meter = place.measures ? guestMeter(line) : null;
    const site = {
      log: this.log,
      pointer: place.pointer,
      endpoint: place.endpoint ?? undefined,
      backend: place.backend ?? undefined,
      take: (port: Port<unknown>) => taken.get(port),
      takeAll: (port: Port<unknown>) => (port === meters && meter ? [meter] : []),
      use: () => place.version,
      http: () => (request: PipeRequest, call: Call) => send(line, request, call),
      fault: (code: string, pointer: string, message: string, options?: object) =>
        new ConfigError(code, place.pointer + pointer, message, options),
      warm: (task: (signal: AbortSignal) => Promise<void>) => void this.#warmups.push(task),
      defer: (dispose: () => void | Promise<void>) => void this.#disposers.push(dispose),
    };
    return site as unknown as HostSite;
  }
}

const LONGEST_LINE = 8192;
/** Maximum number of log lines per place and second: more would not be readable and would block the gateway. */
const MOST_LINES = 200;

function guestLog(line: Line, lines: Allowance, prefixes: readonly string[]): Log {
  const write = (level: LogLevel) => (message: LogMessage) => {
    const dropped = lines.take();
    if (dropped === null) return;
    if (dropped > 0) line.say('log', { level: 'WARNING', prefixes, text: `${dropped} lines were dropped` });
    const text = typeof message === 'function' ? message() : message;
    line.say('log', { level, prefixes, text: String(text).slice(0, LONGEST_LINE) });
  };
  return {
    debug: write('DEBUG'),
    info: write('INFO'),
    warning: write('WARNING'),
    error: write('ERROR'),
    critical: write('CRITICAL'),
    at: (prefix) => guestLog(line, lines, [...prefixes, prefix]),
  };
}

/** Maximum number of measurements that wait for the end of the turn. */
const MOST_WAITING = 1000;

function guestMeter(line: Line): Meter {
  let waiting: unknown[] = [];
  const add = (measured: unknown): void => {
    if (waiting.length === 0) {
      setImmediate(() => {
        line.say('measured', waiting);
        waiting = [];
      });
    }
    if (waiting.length < MOST_WAITING) waiting.push(measured);
  };
  const instrument = (kind: string, name: string, options: object) => {
    const note = (value: number, attributes?: object) => add({ kind, name, options, value, attributes });
    return { add: note, record: note };
  };
  return {
    counter: (name, options) => instrument('counter', name, options),
    upDownCounter: (name, options) => instrument('upDownCounter', name, options),
    histogram: (name, options) => instrument('histogram', name, options),
  };
}

function guestTracer(line: Line): Tracer {
  let count = 0;
  return {
    start(call, name, attributes): ActiveSpan {
      const id = count++;
      const say = (what: string, value?: unknown) => line.say('span', { run: call.get(runSlot), id, what, value });
      say('start', { name, attributes });
      return {
        call,
        set: (more) => say('set', more),
        event: (event) => say('event', event),
        fail: (reason) => say('fail', reason),
        end: () => say('end'),
      };
    },
  };
}

/** Sends a request over the channel to the gateway, and cancels it when the caller aborts. */
export async function askUnder(line: Line, operation: string, value: object, call: Call): Promise<unknown> {
  const id = Math.random();
  const cancellation = call.onCancel(() => line.say('giveUp', id));
  const { remainingMs } = call;
  try {
    return await line.ask(operation, {
      ...value,
      id,
      ms: Number.isFinite(remainingMs) ? Math.max(0, remainingMs) : null,
    });
  } finally {
    cancellation.off();
  }
}

/** Sends a request through the service's HTTP client. */
async function send(line: Line, request: PipeRequest, call: Call): Promise<Reply> {
  const { method, origin, target, headers, body } = request;
  try {
    const bytes = body && copyOf(await wholeBody(body));
    const sent = await askUnder(line, 'http', { method, origin, target, headers: headers.list, body: bytes }, call);
    const { status, headers: received, body: receivedBody } = fieldsOf<SentReply>(sent);
    return Reply.raw(status, new HeaderBag([...received]), bytesIn(receivedBody));
  } catch (error) {
    return Reply.failed(toCallError(error));
  }
}

function guestConnection(line: Line, name: string): RedisConnection {
  return {
    name,
    isOneServer: true,
    run: ({ source, sha1 }, keys, args, call) => askUnder(line, 'redis', { name, source, sha1, keys, args }, call),
  };
}

function guestQuota(line: Line, name: string, rules: readonly string[]): Quota {
  const ask = (rule: string, use: string, caller: string, weight: number, call: Call) =>
    askUnder(line, 'quota', { name, rule, use, caller, weight }, call) as never;
  const ruleOf = (rule: string) => ({
    take: (caller: string, call: Call) => ask(rule, 'take', caller, 1, call),
    look: (caller: string, call: Call) => ask(rule, 'look', caller, 0, call),
    add: (caller: string, weight: number, call: Call) => ask(rule, 'add', caller, weight, call),
  });
  return { rules: new Map(rules.map((rule) => [rule, ruleOf(rule)])), settle: () => undefined };
}
