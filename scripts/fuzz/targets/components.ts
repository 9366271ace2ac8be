import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import {
  ByteStream,
  CallError,
  ConfigError,
  type Data,
  type Level,
  type Plugin,
  printJson,
  type Reply,
  type Schema,
} from '#contract';
import { holdersIn } from '../../../kernel/config/compatibility/holders.ts';
import { deepFreeze } from '../../../kernel/config/index.ts';
import { ConfigErrors, GatewayFault } from '../../../kernel/contract/internal.ts';
import { type Harness, type HarnessOptions, openHarness } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { exampleOffers } from '../../../test/support/example-offers.ts';
import { pipePlugins } from '../../../test/support/pipe-plugins.ts';
import { backends } from '../../docs/examples.ts';
import { configurationsOf, wordsOf } from '../from-schema.ts';
import { type GeneratedReply, type GeneratedRequest, replies, requestsFor, toReply, toRequest } from '../messages.ts';
import { defineTarget, type OpenTarget } from '../target.ts';

interface Input {
  /** Namespace and level, as in `auth/signer at endpoint`. */
  readonly component: string;
  readonly config: unknown;
  readonly exchanges: readonly { readonly request: GeneratedRequest; readonly reply: GeneratedReply }[];
}

/** A component at one level. */
interface Subject {
  readonly plugin: Plugin;
  readonly level: Level;
  readonly schema: Schema;
}

/** Components that the harness does not simulate: they connect without HTTP, or need their counterpart at the root while serving. */
const connecting = /^backend\/(amqp|pubsub)\/|^websocket$|^backend\/grpc$|^telemetry\/open(telemetry|census)$/;

/** Components whose replies or requests contain a time or a random part, or whose number of requests depends on random pauses. */
const varying =
  /^auth\/(aws-sigv4|http-signatures|ntlm|signer)$|^backend\/(lambda|retry)$|^modifier\/lua-|generator$|^documentation\//;

/** Maximum memory of one input, in bytes. */
const MEMORY_BYTES = 256 * 1024 * 1024;

const loaded = await Promise.all(Object.values(catalogue.plugins).map((load) => load()));
const subjects = new Map<string, Subject>();
for (const { plugin } of loaded) {
  for (const { at: level, schema } of plugin.places ?? []) {
    if (level !== 'endpoint' && level !== 'backend') continue;
    if (!connecting.test(plugin.name)) subjects.set(`${plugin.name} at ${level}`, { plugin, level, schema });
  }
}

/** All components of endpoints and backends, processing data. */
export const components = defineTarget<Input>({
  name: 'components',
  law: 'A component refuses its configuration by ConfigErrors, or replies; it changes nothing of others and leaves nothing behind.',
  boundMs: 1_000,
  rooms: ['plugins/'],
  inputs: fc.oneof(...[...subjects].map(([name, { schema }]) => inputsOf(name, schema))),
  open,
});

function inputsOf(component: string, schema: Schema): fc.Arbitrary<Input> {
  const words = wordsOf([...(schema.examples ?? [])]);
  const exchange = fc.record({ request: requestsFor(words), reply: replies });
  return fc.record({
    component: fc.constant(component),
    config: configurationsOf(schema),
    exchanges: fc.array(exchange, { minLength: 1, maxLength: 3 }),
  });
}

async function open(): Promise<OpenTarget<Input>> {
  const arounds = new Map<string, HarnessOptions>();
  for (const [name, { plugin, level }] of subjects) {
    arounds.set(name, {
      endpoint: { method: 'POST', timeout: 1_000 },
      offers: await exampleOffers(plugin),
      plugins: pipePlugins(plugin, level),
      ...(backends[plugin.name] && { backend: backends[plugin.name]! }),
    });
  }
  return {
    async accept(input) {
      const subject = subjects.get(input.component);
      if (!subject) throw new Error(`unknown component "${input.component}"`);
      // The input is parsed from text, as it would be read from a file.
      const { config, exchanges } = JSON.parse(JSON.stringify(input)) as Input;
      const around = arounds.get(input.component)!;
      const first = await run(subject, around, config, exchanges);
      if (varying.test(subject.plugin.name) || isLate(first)) return;
      const second = await run(subject, around, config, exchanges);
      if (!isLate(second) && !isDeepStrictEqual(second, first))
        throw new Error(`differs: ${JSON.stringify([first, second]).slice(0, 2000)}`);
    },
    async close() {},
  };
}

/**
 * True if a limit of time ended an exchange. On a busy machine, a timeout can be earlier than another failure of a server,
 * and ai/prompt-guard has used its processor time for a shorter text.
 */
function isLate(exchanges: readonly unknown[] | null): boolean {
  return /context deadline exceeded|too long to be inspected/.test(JSON.stringify(exchanges));
}

/** @returns the reply and the forwarded request; null for a rejected configuration. */
async function run(
  { plugin, level }: Subject,
  around: HarnessOptions,
  config: unknown,
  exchanges: Input['exchanges'],
): Promise<readonly unknown[] | null> {
  const clock = { now: () => 1_000_000 };
  const seen: unknown[] = [];
  let at = 0;
  let isRaw = false;
  const next: HarnessOptions['next'] = (request) => {
    seen.push([request.method, request.target, [...request.query], [...request.headers]]);
    return toReply(exchanges[at]!.reply, isRaw || request.origin !== '');
  };
  let gate: Harness;
  try {
    gate = await openHarness(frozen(plugin), level, converted(plugin, level, config), {
      ...around,
      next,
      services: { clock },
    });
  } catch (error) {
    if (error instanceof ConfigErrors) return null;
    throw error;
  }
  const { protocol, transport, offers = [] } = gate.attached;
  isRaw = protocol !== undefined || transport !== undefined || offers.length > 0;
  try {
    for (; at < exchanges.length; at++) seen.push(await exchange(gate, exchanges[at]!.request));
  } catch (error) {
    await gate.close();
    throw error;
  }
  const { kept, deferred } = await gate.close();
  if (kept + deferred > 0) throw new Error(`leaves ${kept} kept values and ${deferred} disposers`);
  if (Object.keys(Object.prototype).length + Object.keys(Array.prototype).length > 0)
    throw new Error('a prototype has a property');
  return seen;
}

/** Converts the configuration of a component as a gateway does before it validates it. @throws ConfigErrors. */
function converted({ name, convert }: Plugin, level: Level, config: unknown): unknown {
  const components = { [name]: config as Data };
  const backend = [{ extra_config: level === 'backend' ? components : {} }];
  const endpoint = { backend, extra_config: level === 'endpoint' ? components : {} };
  const errors: ConfigError[] = [];
  const error = (...given: ConstructorParameters<typeof ConfigError>) => void errors.push(new ConfigError(...given));
  convert?.({ endpoints: [endpoint] }, { error, warn() {}, moved() {}, derived() {}, holders: holdersIn });
  if (errors.length > 0) throw new ConfigErrors(errors);
  return components[name];
}

async function exchange(gate: Harness, request: GeneratedRequest): Promise<unknown> {
  const before = usedBytes();
  const reply = await gate.send(toRequest(request)).catch((error) => {
    if (error instanceof CallError) return error;
    throw error;
  });
  const grown = usedBytes() - before;
  if (grown > MEMORY_BYTES) throw new Error(`takes ${grown} bytes of memory`);
  if (reply instanceof CallError) return mustBeKnown(reply);
  reply.errors.map(mustBeKnown);
  const { status } = reply;
  if (!Number.isInteger(status) || status < 100 || status > 599) throw new Error(`replies with status ${status}`);
  return shown(reply);
}

/** An error in the component itself is reported, even if it was caught. */
function mustBeKnown(error: CallError): string {
  if (error instanceof GatewayFault) throw error.cause ?? error;
  return error.message;
}

function shown({ status, headers, data, body, complete, errors }: Reply): unknown {
  if (body instanceof ByteStream) body.cancel(new CallError('FUZZ', 'read no further'));
  const bytes = body instanceof Uint8Array ? Buffer.from(body).toString('latin1') : body !== null;
  return [status, [...headers], printed(data), bytes, complete, errors.map(({ message }) => message)];
}

/** Prints data as JSON. @returns null for data that encoders cannot write either. */
function printed(data: Data): string | null {
  try {
    return printJson(data);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Wraps a plugin so that it cannot modify its configuration. */
function frozen(plugin: Plugin): Plugin {
  const places = plugin.places!.map((place) => ({
    ...place,
    attach: (site: never) => {
      deepFreeze((site as { config: unknown }).config);
      return place.attach(site);
    },
  }));
  return { ...plugin, places: places as unknown as Plugin['places'] & object };
}

function usedBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
