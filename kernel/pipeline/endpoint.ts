import {
  type AtBackend,
  type AtEndpoint,
  type AtService,
  type BackendConfig,
  ConfigError,
  type Encoding,
  type EndpointConfig,
  type Log,
  type Phase,
  type PipeRequest,
  type Plugin,
  type Step,
} from '#contract';
import { joinPointer, nearest } from '../config/index.ts';
import { sortByOrder } from '../registry/order.ts';
import type { Registry } from '../registry/registry.ts';
import { compileBackend } from './backend.ts';
import { buffered } from './buffered.ts';
import { fold } from './fold.ts';
import { parallel } from './merge.ts';
import { findPlugins } from './namespaces.ts';
import { compileRequest } from './request.ts';
import { enterPipe, type Route } from './route.ts';
import { type Shadow, withShadows } from './shadow.ts';
import { attach, type Build, createSite } from './site.ts';

/** A plugin and what it handed over at one place. */
export interface Attached<A> {
  readonly plugin: Plugin;
  readonly at: A;
}

/** What every endpoint of one build shares. */
export interface EndpointContext {
  readonly build: Build;
  readonly registry: Registry;
  readonly service: readonly Attached<AtService>[];
  /** The gateway's own `User-Agent`. */
  readonly agent: string;
  readonly log: Log;
}

/** Compiles one endpoint; undefined when it has mistakes, which are in `build.errors`. */
export function compileEndpoint(context: EndpointContext, endpoint: EndpointConfig, index: number): Route | undefined {
  const { build, registry } = context;
  const before = build.errors.length;
  const pointer = `/endpoints/${index}`;
  const log = context.log.at(`[ENDPOINT: ${endpoint.endpoint}]`);
  const output = findEncoding(context, endpoint.output_encoding, joinPointer(pointer, 'output_encoding'), 'write');
  const attached = attachEndpoint(context, endpoint, pointer, log);
  const backends = endpoint.backend.map((backend, at) =>
    attachBackend(context, endpoint, backend, joinPointer(pointer, 'backend', at), at, output),
  );
  if (!output || build.errors.length > before) return undefined;
  const regular = backends.filter((backend) => !backend.shadow);
  const raw = output.raw === true;
  if (regular.length === 0) {
    build.errors.push(
      new ConfigError(
        'ENDPOINT_BACKENDS',
        joinPointer(pointer, 'backend'),
        'every backend is a shadow: nothing would answer',
      ),
    );
  }
  if (raw) refuseReaders(build, [...attached, ...backends.flatMap((backend) => backend.attached)], endpoint, pointer);
  warnConcurrent(build, endpoint, raw, pointer);
  if (build.errors.length > before || !build.attaching) return undefined;

  const unread = [...attached, ...backends.flatMap((backend) => backend.attached)].every(({ at }) => !at.readsData);
  const alone = regular.length === 1 && backends.length === 1;
  const steps = regular.map((backend) => backend.compile(output, unread, alone));
  const shadows = backends
    .filter((backend) => backend.shadow)
    .map(
      (backend): Shadow => ({
        step: backend.compile(output, false, false),
        timeoutMs: backend.shadow!.timeoutMs ?? endpoint.timeout,
      }),
    );
  const phase = (name: Phase) =>
    sortByOrder(
      attached.filter(({ at }) => name in at),
      registry.catalogue.order,
      name,
    );
  const endpointPhase = phase('endpoint');
  const proxyPhase = phase('proxy');
  reportHidden(build, [...endpointPhase, ...proxyPhase], pointer);
  const gathered = withShadows(shadows, gather(attached, steps, endpoint));
  const shared = alone && endpoint.concurrent_calls === 1 ? gathered : buffered(gathered);
  const pipe = fold(
    proxyPhase.map(({ at }) => at.proxy!),
    shared,
  );
  const payloads = [build.config.router, ...attached.map(({ at }) => at.payload)];
  return {
    endpoint,
    index,
    output,
    log,
    handle: fold(
      endpointPhase.map(({ at }) => at.endpoint!),
      enterPipe(compileRequest(endpoint, context.agent), pipe),
    ),
    maxPayloadBytes: smallestLimit([
      build.config.router.max_payload,
      ...attached.map(({ at }) => at.payload?.maxBytes ?? 0),
    ]),
    inflate:
      Boolean(build.config.router.decompress_gzip) ||
      payloads.some((payload) => payload && 'inflate' in payload && payload.inflate),
    pipes: [
      { phase: 'endpoint', plugins: endpointPhase.map(({ plugin }) => plugin.name) },
      { phase: 'proxy', plugins: proxyPhase.map(({ plugin }) => plugin.name) },
    ].filter(({ plugins }) => plugins.length > 0),
  };
}

function gather(
  attached: readonly Attached<AtEndpoint>[],
  steps: readonly Step<PipeRequest>[],
  endpoint: EndpointConfig,
): Step<PipeRequest> {
  if (steps.length === 1) return steps[0]!;
  const custom = attached.find(({ at }) => at.gather)?.at.gather;
  const combine = attached.find(({ at }) => at.combine)?.at.combine;
  const gathered = custom ? custom.over(steps) : parallel(steps, combine, endpoint.timeout);
  const shape = attached.find(({ at }) => at.shape)?.at.shape;
  if (!shape) return gathered;
  return async (request, call) => {
    const reply = await gathered(request, call);
    if (reply.data) reply.data = shape(reply.data);
    return reply;
  };
}

function smallestLimit(limits: readonly number[]): number {
  const set = limits.filter((limit) => limit > 0);
  return set.length === 0 ? 0 : Math.min(...set);
}

function attachEndpoint(
  context: EndpointContext,
  endpoint: EndpointConfig,
  pointer: string,
  log: Log,
): Attached<AtEndpoint>[] {
  const { build, registry } = context;
  const attached: Attached<AtEndpoint>[] = [];
  for (const { plugin, place, config, pointer: at } of findPlugins(
    build,
    registry,
    endpoint.extra_config,
    'endpoint',
    pointer,
  )) {
    const handed = attach<AtEndpoint>(build, plugin, place, config, { pointer: at, log, endpoint });
    if (handed) attached.push({ plugin, at: handed });
  }
  for (const { plugin, at } of context.service) {
    const handed = at.eachEndpoint?.(createSite(build, plugin, undefined, { pointer, log, endpoint }));
    if (handed) attached.push({ plugin, at: handed });
  }
  return attached;
}

interface AttachedBackend {
  readonly attached: readonly Attached<AtBackend>[];
  readonly shadow: AtBackend['shadow'];
  compile(output: Encoding, unread: boolean, alone: boolean): Step<PipeRequest>;
}

function attachBackend(
  context: EndpointContext,
  endpoint: EndpointConfig,
  backend: BackendConfig,
  pointer: string,
  index: number,
  output: Encoding | undefined,
): AttachedBackend {
  const { build, registry } = context;
  const log = context.log.at(
    `[BACKEND: ${endpoint.method} ${endpoint.endpoint} -> ${backend.method} ${backend.url_pattern}][Client]`,
  );
  const stance = { log, endpoint, backend, index };
  const attached: Attached<AtBackend>[] = [];
  for (const { plugin, place, config, pointer: at } of findPlugins(
    build,
    registry,
    backend.extra_config,
    'backend',
    pointer,
  )) {
    const handed = attach<AtBackend>(build, plugin, place, config, { ...stance, pointer: at });
    if (handed) attached.push({ plugin, at: handed });
  }
  for (const { plugin, at } of context.service) {
    const handed = at.eachBackend?.(createSite(build, plugin, undefined, { ...stance, pointer }));
    if (handed) attached.push({ plugin, at: handed });
  }
  const protocol = findProtocol(context, attached, pointer, stance);
  if (protocol && !protocol.hostless && backend.host.length === 0) {
    build.errors.push(
      new ConfigError('BACKEND_HOST', pointer, 'backend has no host', { hint: 'add "host" here or at the root' }),
    );
  }
  const encoding = output?.raw
    ? output
    : findEncoding(context, backend.encoding, joinPointer(pointer, 'encoding'), 'read');
  const phase = (name: Phase) =>
    sortByOrder(
      attached.filter(({ at }) => name in at),
      registry.catalogue.order,
      name,
    );
  return {
    attached,
    shadow: attached.find(({ at }) => at.shadow)?.at.shadow,
    compile: (clientEncoding, unread, alone) =>
      compileBackend({
        endpoint,
        backend,
        log,
        backendWraps: phase('backend').map(({ at }) => at.backend!),
        transportWraps: phase('transport').map(({ at }) => at.transport!),
        protocol: protocol!,
        customShape: attached.find(({ at }) => at.shape)?.at.shape,
        encoding: encoding!,
        output: clientEncoding,
        unread,
        alone,
      }),
  };
}

function findProtocol(
  { build, registry }: EndpointContext,
  attached: readonly Attached<AtBackend>[],
  pointer: string,
  stance: { log: Log; endpoint: EndpointConfig; backend: BackendConfig; index: number },
): AtBackend['protocol'] {
  const claims = attached.filter(({ at }) => at.protocol);
  const special = claims.filter(({ plugin }) => plugin.name !== registry.catalogue.defaultProtocol);
  if (special.length > 1) {
    const names = special.map(({ plugin }) => `"${plugin.name}"`).join(' and ');
    build.errors.push(
      new ConfigError(
        'BACKEND_PROTOCOLS',
        joinPointer(pointer, 'extra_config'),
        `${names} cannot both reach one backend`,
      ),
    );
  }
  const claim = special[0] ?? claims[0];
  if (claim) return claim.at.protocol;
  const plugin = registry.plugin(registry.catalogue.defaultProtocol)!;
  const place = registry.place(plugin.name, 'backend')!;
  return attach<AtBackend>(build, plugin, place, {}, { ...stance, pointer })?.protocol;
}

function findEncoding(
  { build, registry }: EndpointContext,
  name: string,
  pointer: string,
  use: 'read' | 'write',
): Encoding | undefined {
  const encoding = registry.encoding(name);
  if (encoding && (encoding.raw || (use === 'read' ? encoding.decode : encoding.encode))) return encoding;
  const able = registry.names('encoding').filter((known) => {
    const candidate = registry.encoding(known);
    return !candidate || candidate.raw || (use === 'read' ? candidate.decode : candidate.encode);
  });
  const near = nearest(name, able);
  const what = use === 'read' ? 'a backend can be read in' : 'a response can be written in';
  build.errors.push(
    new ConfigError('ENCODING_UNKNOWN', pointer, `"${name}" is no encoding that ${what}`, {
      hint: near ? `did you mean "${near}"?` : `one of ${able.join(', ')}`,
    }),
  );
  return undefined;
}

/** What reads data cannot work where bytes pass undecoded: refused by name. */
function refuseReaders(
  build: Build,
  attached: readonly Attached<AtEndpoint | AtBackend>[],
  endpoint: EndpointConfig,
  pointer: string,
): void {
  for (const { plugin, at } of attached) {
    if (!at.readsData) continue;
    const message = `"${plugin.name}" reads data, and output_encoding "${endpoint.output_encoding}" passes bytes undecoded`;
    build.errors.push(new ConfigError('ENDPOINT_NO_DATA', joinPointer(pointer, 'output_encoding'), message));
  }
}

function warnConcurrent(build: Build, endpoint: EndpointConfig, raw: boolean, pointer: string): void {
  if (endpoint.concurrent_calls === 1) return;
  const at = joinPointer(pointer, 'concurrent_calls');
  if (raw) {
    build.warnings.push(
      new ConfigError(
        'CONCURRENT_RAW',
        at,
        `concurrent_calls has no effect with output_encoding "${endpoint.output_encoding}"`,
      ),
    );
  } else if (endpoint.backend.some((backend) => backend.method !== 'GET' && backend.method !== 'HEAD')) {
    build.warnings.push(new ConfigError('CONCURRENT_UNSAFE', at, 'the same write is really sent several times'));
  }
}

/** A wrap that may answer by itself hides what stands inside it: the operator is told what. */
function reportHidden(build: Build, outermostFirst: readonly Attached<AtEndpoint>[], pointer: string): void {
  for (const [at, { plugin, at: stand }] of outermostFirst.entries()) {
    const hidden = outermostFirst.slice(at + 1).map((inner) => `"${inner.plugin.name}"`);
    if (!stand.terminal || hidden.length === 0) continue;
    const message = `"${plugin.name}" answers by itself, so ${hidden.join(', ')} may never run`;
    build.warnings.push(new ConfigError('PLUGIN_HIDDEN', joinPointer(pointer, 'extra_config', plugin.name), message));
  }
}
