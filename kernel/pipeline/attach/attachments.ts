import {
  type AtBackend,
  type AtEndpoint,
  type AtService,
  type BackendConfig,
  ConfigError,
  type Encoding,
  type EndpointConfig,
  type HostList,
  type Log,
  type MessageHook,
  type PipeRequest,
  type Step,
  type Wrap,
} from '#contract';
import { joinPointer } from '../../config/index.ts';
import { sortByOrder } from '../../registry/order.ts';
import type { Registry } from '../../registry/registry.ts';
import {
  type BackendOptions,
  type BackendPlace,
  type CountBackend,
  compileAtFirstCall,
  compileBackend,
  logPrefix,
} from '../backend/backend.ts';
import { balance, type PickHost } from '../backend/balance.ts';
import type { AddCertificateHeader } from '../request/client-certificate.ts';
import { type BackendStages, type Stage, stagesOfBackend } from '../steps/stages.ts';
import { timedBackend, timedProtocol, timedWraps } from '../steps/timing.ts';
import { type Attached, attach, collecting, isUnread, onlyClaim, reportHidden } from './attach.ts';
import type { Build } from './build.ts';
import { findEncoding } from './find-encoding.ts';
import { attachContained } from './guards.ts';
import { openHosts } from './hosts.ts';
import type { CompilePipe, NamedHost } from './location.ts';
import { findPlugins } from './namespaces.ts';
import { byDependency, type Offers } from './offers.ts';
import { findProtocol, warnOfIdle } from './protocol.ts';
import { Reads } from './reads.ts';
import { sandboxed } from './sandboxed-protocol.ts';
import { createSite } from './site.ts';
import { nameHosts } from './upstreams.ts';

/** Context shared by all endpoints of one build. */
export interface EndpointContext {
  readonly build: Build;
  readonly registry: Registry;
  readonly service: readonly Attached<AtService>[];
  /** Values that plugins outside the endpoint offer to the plugins of the endpoint. */
  readonly offers: Offers;
  /** The gateway's own `User-Agent`. */
  readonly agent: string;
  /** Name of the request ID header, which is sent to every backend; empty for none. */
  readonly requestId: string;
  readonly addCertificate: AddCertificateHeader | null;
  readonly log: Log;
  /** Compiles pipes nested in components. */
  readonly compilePipe: CompilePipe;
  /** Counts the responses of the backend at an index. Default: not counted. */
  readonly counting?: CountBackend | undefined;
}

/** Attaches an endpoint's components, and those that the service attaches to every endpoint. */
export function attachEndpoint(
  context: EndpointContext,
  endpoint: EndpointConfig,
  pointer: string,
  log: Log,
): Attached<AtEndpoint>[] {
  const { build, registry, offers } = context;
  const attached: Attached<AtEndpoint>[] = [];
  const stance = { log, endpoint, offers, compilePipe: context.compilePipe };
  const results = findPlugins(build, registry, endpoint.extra_config, 'endpoint', pointer);
  for (const { plugin, place, config, pointer: at } of byDependency(results)) {
    const reads = new Reads(build.reads);
    const handed = attach<AtEndpoint>(build, plugin, place, config, { ...stance, pointer: at, reads });
    if (!handed) continue;
    offers.add(plugin, handed.offers);
    attached.push({ plugin, at: handed, pointer: at, reads });
  }
  for (const { plugin, at, pointer: origin } of context.service) {
    if (!at.eachEndpoint) continue;
    const reads = new Reads(build.reads);
    const site = createSite(build, plugin, undefined, { ...stance, pointer, reads });
    const handed = collecting(build, origin, () =>
      attachContained(build, plugin, origin, endpoint, () => at.eachEndpoint!(site)),
    );
    if (handed) attached.push({ plugin, at: handed, pointer: origin, reads, ofService: true });
  }
  return attached;
}

/** A backend with its plugins attached. Its pipe is compiled once it is known what the whole endpoint reads. */
export interface AttachedBackend {
  readonly attached: readonly Attached<AtBackend>[];
  readonly shadow: AtBackend['shadow'];
  readonly condition: AtBackend['condition'];
  /** Whether other backends without components can share this attachment, if the settings it depends on are equal. */
  readonly isShareable: boolean;
  /** Whether responses are undecoded bytes although the client gets encoded data. */
  readonly unreadable: boolean;
  readonly stages: BackendStages;
  /** Whether the pipe of the backend consists only of a protocol that responds when its call is over. */
  readonly heedsCall: boolean;
  /** @param outerHooks message hooks that run after the backend's own hooks. */
  compile(
    place: BackendPlace,
    output: Encoding,
    unread: boolean,
    alone: boolean,
    outerHooks: readonly MessageHook[],
  ): Step<PipeRequest>;
}

/** Attaches a backend's components, and finds its protocol and encoding. */
export function attachBackend(
  context: EndpointContext,
  endpoint: EndpointConfig,
  backend: BackendConfig,
  pointer: string,
  index: number,
  output: Encoding | undefined,
  around: readonly Attached<AtEndpoint>[],
): AttachedBackend {
  const { build, registry } = context;
  const log = context.log.at(logPrefix(endpoint, backend));
  const offers = context.offers.within();
  const named: NamedHost[] = [];
  const { compilePipe } = context;
  const stance = { log, endpoint, backend, index, offers, compilePipe, ...(build.upstreams && { hosts: named }) };
  const attached: Attached<AtBackend>[] = [];
  /** Whether a component whose files were not read may provide the backend's protocol. */
  let mayBeReached = false;
  /** Whether a rejected component may provide the protocol: address errors for another one would then mislead. */
  let isRefused = false;
  const results = findPlugins(build, registry, backend.extra_config, 'backend', pointer);
  for (const { plugin, place, config, pointer: at } of byDependency(results)) {
    const reads = new Reads(build.reads);
    const handed = attach<AtBackend>(build, plugin, place, config, { ...stance, pointer: at, reads });
    offers.add(plugin, handed?.offers);
    if (handed) attached.push({ plugin, at: handed, pointer: at, reads });
    else {
      const waits = isUnread(build.errors.at(-1));
      mayBeReached ||= waits;
      isRefused ||= !waits;
    }
  }
  const attachEach = (
    { plugin, at, pointer: origin }: Attached<AtEndpoint | AtService>,
    traits?: { ofService: true },
  ) => {
    if (!at.eachBackend) return;
    const reads = new Reads(build.reads);
    const site = createSite(build, plugin, undefined, { ...stance, pointer, reads });
    const handed = collecting(build, origin, () =>
      attachContained(build, plugin, origin, endpoint, () => at.eachBackend!(site)),
    );
    if (handed) attached.push({ plugin, at: handed, pointer: origin, reads, ...traits });
  };
  for (const each of around) attachEach(each);
  for (const each of context.service) attachEach(each, { ofService: true });
  const protocol = findProtocol(context, attached, pointer, stance, output);
  if (!protocol?.hostless && !mayBeReached && backend.host.length === 0) {
    build.errors.push(new ConfigError('BACKEND_HOST', pointer, 'backend has no host', { hint: hostHint(pointer) }));
  }
  const hosts = openHosts(context, backend, isRefused ? undefined : protocol, { ...stance, pointer });
  const picked = hosts && protocol?.addresses ? balance(hosts) : null;
  if (picked) protocol!.addresses!(picked);
  // Bytes are passed through undecoded regardless of the encoding, but the name of the encoding must be valid.
  const passes = output?.raw && registry.encoding(backend.encoding) !== undefined;
  const encoding = passes
    ? output
    : findEncoding(context, backend.encoding, joinPointer(pointer, 'encoding'), 'read', endpoint);
  const claim = attached.find(({ at }) => at.protocol !== undefined && at.protocol === protocol);
  const other = claim && claim.plugin.name !== registry.catalogue.defaultProtocol ? claim : undefined;
  if (other) warnOfIdle(build, attached, other);
  nameHosts(build, named, other?.plugin, hosts?.fixed === true, pointer);
  const { sandbox } = build.services;
  const reached = other && sandbox ? sandboxed(other, sandbox, named, build.upstreams ?? []) : protocol;
  const phase = (name: 'backend' | 'transport') =>
    sortByOrder(
      attached.filter(({ at }) => at[name] !== undefined && !(name === 'transport' && other && at.onlyHttp)),
      registry.catalogue.order,
      name,
    );
  const backendPhase = phase('backend');
  const transportPhase = phase('transport');
  reportHidden(build, [...backendPhase, ...transportPhase]);
  const condition = onlyClaim(build, attached, 'condition', 'decide whether a backend is called');
  const attempts = onlyClaim(build, attached, 'attempts', 'repeat the calls to a backend');
  const customShape = onlyClaim(build, attached, 'shape', 'reshape the response of a backend');
  const stages: BackendStages = {
    stages: stagesOfBackend(
      backendPhase,
      transportPhase,
      attached,
      claim?.plugin.name ?? registry.catalogue.defaultProtocol,
      output?.raw !== true && encoding?.raw !== true,
      output?.messages !== undefined,
    ),
    condition: condition?.inWords ?? null,
    hostless: protocol?.hostless === true,
    keepsQuery: protocol?.keepsQuery === true,
  };
  return {
    stages,
    attached,
    shadow: onlyClaim(build, attached, 'shadow', 'make a backend a shadow'),
    condition,
    isShareable:
      attached.length === 0 &&
      protocol?.shareable === true &&
      protocol.addresses === undefined &&
      (hosts === null || (hosts.fixed === true && hosts.current === backend.host)),
    heedsCall: !attempts && backendPhase.length === 0 && transportPhase.length === 0 && protocol?.heedsCall === true,
    unreadable: encoding?.raw === true && output?.raw !== true,
    compile: compilerOf(
      {
        backendWraps: backendPhase.map(({ at }) => at.backend!),
        transportWraps: transportPhase.map(({ at }) => at.transport!),
        protocol: reached!,
        attempts,
        messageHooks: messageHooks(attached, registry, 'backend'),
        customShape,
        encoding: encoding!,
      },
      // Each backend has its own position in the list of hosts.
      hostPicker(picked, hosts),
      stages,
      attached.length === 0,
    ),
  };
}

/** Outside `attachBackend`, whose other functions refer to the build. */
function hostPicker(picked: PickHost | null, hosts: HostList | null): () => PickHost | null {
  return () => picked ?? (hosts && balance(hosts));
}

/** Parts of a backend's pipe that do not depend on the endpoint. */
type BackendParts = Pick<
  BackendOptions,
  'backendWraps' | 'transportWraps' | 'protocol' | 'attempts' | 'messageHooks' | 'customShape' | 'encoding'
>;

/**
 * Returns the function that compiles the pipe of a backend. It is kept as long as the endpoint, and must not hold the
 * build.
 * @param isPlain whether the backend has no components.
 */
function compilerOf(
  parts: BackendParts,
  pickHost: () => PickHost | null,
  stages: BackendStages,
  isPlain: boolean,
): AttachedBackend['compile'] {
  return (place, output, unread, alone, outerHooks) => {
    const messageHooks = [...parts.messageHooks, ...outerHooks];
    const options = { ...place, ...parts, pickHost: pickHost(), messageHooks, output, unread, alone };
    // A pipe with components is compiled now, while the build that its components belong to is in progress.
    if (place.timedAs !== undefined) return compileTimed(options, stages, place.timedAs);
    return isPlain ? compileAtFirstCall(options) : compileBackend(options);
  };
}

/** Compiles a backend's pipe with its stages timed. */
function compileTimed(options: BackendOptions, stages: BackendStages, index: number): Step<PipeRequest> {
  const { backendWraps, transportWraps, attempts, protocol } = options;
  const timed = (wraps: readonly Wrap<PipeRequest>[], as: Stage['as']) => timedWraps(wraps, stages.stages, as, index);
  const step = compileBackend({
    ...options,
    backendWraps: timed(backendWraps, 'backend'),
    transportWraps: timed(transportWraps, 'transport'),
    attempts: attempts && timed([attempts], 'attempts')[0],
    protocol: { ...protocol, call: timedProtocol(protocol.call, stages, index) },
  });
  return timedBackend(step, index);
}

/** Returns the message hooks of a stream, in the order in which wraps of a phase see a reply: innermost first. */
export function messageHooks(
  attached: readonly Pick<Attached<AtEndpoint | AtBackend>, 'plugin' | 'at'>[],
  registry: Registry,
  phase: 'proxy' | 'backend',
): MessageHook[] {
  const hooked = attached.filter(({ at }) => at.message);
  return sortByOrder(hooked, registry.catalogue.order, phase)
    .reverse()
    .map(({ at }) => at.message!);
}

/** A backend inside a component, such as a step of a workflow, inherits nothing from the surrounding backend. */
function hostHint(pointer: string): string {
  const hint = 'add "host" here or at the root';
  return /\/backend\/\d+\/extra_config\//.test(pointer)
    ? `${hint}: the surrounding backend's host does not apply`
    : hint;
}
