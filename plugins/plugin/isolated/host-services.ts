import {
  type ActiveSpan,
  Call,
  type Counter,
  HeaderBag,
  type Histogram,
  type Log,
  type LogLevel,
  type MeterAttributes,
  makeRequest,
  meterOf,
  PipeRequest,
  Query,
  RequestBody,
  type Step,
  tracerOf,
} from '#contract';
import { connectionNamed, redisConnections } from '../../clients/redis/port.ts';
import { quotas } from '../../shared/ports/quotas.ts';
import type { HostSite } from '../lib/host.ts';
import { Allowance } from './allowance.ts';
import type { SentPlace } from './guest-site.ts';
import { assignHeaders, bytesIn, copyOf, fieldsOf, type SentReply, sendReply, wholeBody } from './wire.ts';

/** Maximum number of log lines accepted per place and second; the thread itself sends fewer. */
const MOST_LINES = 500;
/** Maximum number of measurements accepted per place and second. */
const MOST_MEASURED = 20_000;
/** Limits per place: instruments, attributes of a value, and open calls of services. */
const MOST_INSTRUMENTS = 100;
const MOST_ATTRIBUTES = 16;
const MOST_CALLS = 1000;
const LONGEST_LINE = 8192;
/** Timeout for a call without a limit of its own, in milliseconds. */
const CALL_MS = 30_000;

const levels: Readonly<Record<LogLevel, (log: Log) => Log['info']>> = {
  DEBUG: (log) => log.debug.bind(log),
  INFO: (log) => log.info.bind(log),
  WARNING: (log) => log.warning.bind(log),
  ERROR: (log) => log.error.bind(log),
  CRITICAL: (log) => log.critical.bind(log),
};

/** Gateway services for a handler in a thread, which serves one endpoint, backend or the service. All input from the thread is untrusted. */
export class HostServices {
  readonly #site: HostSite;
  readonly #send: Step<PipeRequest>;
  readonly #quotas: ReturnType<typeof HostServices.quotasAt>;
  readonly #instruments = new Map<string, Counter | Histogram>();
  readonly #meter: ReturnType<typeof meterOf>;
  readonly #tracer: ReturnType<typeof tracerOf>;
  readonly #calls = new Map<number, Call>();
  readonly #lines = new Allowance(MOST_LINES);
  readonly #measured = new Allowance(MOST_MEASURED);

  constructor(site: HostSite) {
    this.#site = site;
    this.#send = site.http({ ofService: true });
    this.#quotas = HostServices.quotasAt(site);
    this.#meter = meterOf(site);
    this.#tracer = tracerOf(site);
  }

  static quotasAt(site: HostSite) {
    return site.take(quotas);
  }

  /** Description of the services, as sent to the thread. */
  get description(): Pick<SentPlace, 'connections' | 'quotas' | 'measures' | 'traces'> {
    return {
      connections: [...(this.#site.take(redisConnections)?.keys() ?? [])],
      quotas: new Map([...(this.#quotas ?? [])].map(([name, { rules }]) => [name, [...rules.keys()]])),
      measures: this.#meter !== null,
      traces: this.#tracer !== null,
    };
  }

  readonly operations: Readonly<Record<string, (value: unknown) => unknown>> = {
    log: (value) => this.#log(fieldsOf(value)),
    measured: (value) => this.#measure(value),
    http: (value) => this.#underCall(value, (call) => this.#http(fieldsOf(value), call)),
    redis: (value) => this.#underCall(value, (call) => this.#redis(fieldsOf(value), call)),
    quota: (value) => this.#underCall(value, (call) => this.#quota(fieldsOf(value), call)),
    giveUp: (value) => this.#calls.get(value as number)?.cancel(),
  };

  #log({ level, prefixes, text }: { level: LogLevel; prefixes: readonly string[]; text: string }): void {
    if (this.#lines.take() === null || !Object.hasOwn(levels, level)) return;
    let { log } = this.#site;
    for (const prefix of prefixes.slice(0, 8)) log = log.at(String(prefix).slice(0, 200));
    levels[level](log)(String(text).slice(0, LONGEST_LINE));
  }

  #measure(value: unknown): void {
    if (!this.#meter || !Array.isArray(value)) return;
    for (const each of value) {
      if (this.#measured.take() === null) return;
      const { kind, name, options, value: amount, attributes } = fieldsOf<Record<string, unknown>>(each);
      if (typeof amount !== 'number' || typeof name !== 'string') continue;
      const instrument = this.#instrument(String(kind), name, options);
      if (!instrument) continue;
      if ('record' in instrument) instrument.record(amount, attributesIn(attributes));
      else instrument.add(amount, attributesIn(attributes));
    }
  }

  #instrument(kind: string, name: string, given: unknown): Counter | Histogram | undefined {
    const key = `${kind} ${name}`;
    const known = this.#instruments.get(key);
    if (known || this.#instruments.size >= MOST_INSTRUMENTS) return known;
    const { description = '', unit, bounds } = fieldsOf<Record<string, unknown>>(given ?? {});
    const options = { description: String(description), ...(typeof unit === 'string' && { unit }) };
    const isBounds = Array.isArray(bounds) && bounds.every((bound) => typeof bound === 'number');
    const meter = this.#meter!;
    const made =
      kind === 'histogram'
        ? meter.histogram(name.slice(0, 200), { ...options, ...(isBounds && { bounds: bounds as number[] }) })
        : kind === 'upDownCounter'
          ? meter.upDownCounter(name.slice(0, 200), options)
          : meter.counter(name.slice(0, 200), options);
    this.#instruments.set(key, made);
    return made;
  }

  /** Runs an operation that the thread can cancel. */
  async #underCall<T>(value: unknown, run: (call: Call) => Promise<T>): Promise<T> {
    const { id, ms } = fieldsOf<{ id: number; ms: unknown }>(value);
    if (this.#calls.size >= MOST_CALLS) throw new Error(`the plugin already has ${MOST_CALLS} pending calls`);
    const call = new Call(this.#site.log, typeof ms === 'number' ? ms : CALL_MS);
    this.#calls.set(id, call);
    try {
      return await run(call);
    } finally {
      this.#calls.delete(id);
      call.finish();
    }
  }

  async #http(
    sent: { method: string; origin: string; target: string; headers: unknown; body: unknown },
    call: Call,
  ): Promise<SentReply> {
    const { method, origin, target, headers, body } = sent;
    if (!/^[A-Za-z]{1,20}$/.test(method)) throw new TypeError('the request method is not valid');
    const { origin: sound } = new URL(origin);
    if (typeof target !== 'string' || /[\0-\x20\x7f]/.test(target)) throw new TypeError('the request URL is not valid');
    const bytes = bytesIn(body);
    const client = makeRequest({ method, body: bytes && RequestBody.of(bytes) });
    const bag = new HeaderBag();
    assignHeaders(bag, headers);
    const request = new PipeRequest(client, {}, new Query(), bag, client.body);
    request.origin = sound;
    request.target = target;
    const reply = await this.#send(request, call);
    const [error] = reply.errors;
    if (error) throw error;
    return sendReply(reply, null, reply.body && copyOf(await wholeBody(reply.body)));
  }

  #redis(
    { name, source, sha1, keys, args }: { name: string; source: string; sha1: string; keys: string[]; args: string[] },
    call: Call,
  ): Promise<unknown> {
    const connection = connectionNamed(this.#site, name, '');
    return connection.run({ source: String(source), sha1: String(sha1) }, keys.map(String), args.map(String), call);
  }

  async #quota(
    { name, rule, use, caller, weight }: { name: string; rule: string; use: string; caller: string; weight: number },
    call: Call,
  ): Promise<unknown> {
    const counted = this.#quotas?.get(name)?.rules.get(rule);
    if (!counted) throw new Error(`no quota "${name}" with a rule "${rule}"`);
    if (use === 'add') return counted.add(String(caller), Number(weight), call);
    return use === 'look' ? counted.look(String(caller), call) : counted.take(String(caller), call);
  }

  /** Starts, changes or ends a span on behalf of an isolated module. */
  span(spans: Map<number, ActiveSpan>, call: Call, value: unknown): void {
    const { id, what, value: said } = fieldsOf<{ id: number; what: string; value: unknown }>(value);
    if (what === 'start') {
      const { name, attributes } = fieldsOf<{ name: string; attributes: unknown }>(said);
      if (this.#tracer && spans.size < 128)
        spans.set(id, this.#tracer.start(call, String(name), attributesIn(attributes)));
      return;
    }
    const span = spans.get(id);
    if (what === 'set') span?.set(attributesIn(said) ?? {});
    else if (what === 'event') span?.event(String(said));
    else if (what === 'fail') span?.fail(said === undefined ? undefined : String(said));
    else if (what === 'end') span?.end();
  }
}

function attributesIn(given: unknown): MeterAttributes | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const sound = Object.entries(given).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return Object.fromEntries(
    sound
      .slice(0, MOST_ATTRIBUTES)
      .map(([name, value]) => [name.slice(0, 200), typeof value === 'string' ? value.slice(0, 1024) : value]),
  );
}
