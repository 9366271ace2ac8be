import {
  type AtBackend,
  type AtEndpoint,
  type AttachmentTraits,
  ConfigError,
  type Encoding,
  type EndpointConfig,
  type Log,
  type PipeRequest,
  type Step,
} from '#contract';
import { joinPointer } from '../../config/index.ts';
import { sortByOrder } from '../../registry/order.ts';
import { type Attached, onlyClaim, reportHidden } from '../attach/attach.ts';
import { type AttachedBackend, attachBackend, attachEndpoint, type EndpointContext } from '../attach/attachments.ts';
import type { Build } from '../attach/build.ts';
import { findEncoding } from '../attach/find-encoding.ts';
import { type PayloadLimits, payloadLimits } from '../request/payload-limits.ts';
import { describeMerge } from '../response/describe-merge.ts';
import { type PipeStages, stagesAround } from '../steps/stages.ts';
import { foldPipe, type Gathering } from './fold-pipe.ts';

/** The part of an endpoint that is independent of the client: backends, their merge, and the wraps around them. */
export interface CompiledPipe extends AttachedPipe {
  readonly step: Step<PipeRequest>;
}

/** A pipe with its components attached and checked. */
export interface AttachedPipe extends PayloadLimits {
  readonly output: Encoding;
  /** Attachments of the endpoint's components. */
  readonly attached: readonly Attached<AtEndpoint>[];
  readonly backends: readonly AttachedBackend[];
  readonly gathering: Pick<Gathering, 'gather' | 'combine'>;
  /** Wraps around the client's request, outermost first. */
  readonly endpointPhase: readonly Attached<AtEndpoint>[];
  /** Wraps around the request to the backends, outermost first. */
  readonly proxyPhase: readonly Attached<AtEndpoint>[];
  readonly stages: PipeStages;
  /** Headers that components set on requests to backends, in lowercase. */
  readonly sets: ReadonlySet<string>;
  /** Whether a component reads the data of replies. */
  readonly readsData: boolean;
  /**
   * Whether the pipe itself responds as soon as its call ends, so that no timer is needed. Requests with a body are
   * exempt.
   */
  readonly heedsCall: boolean;
  /** Unique identification of the pipe. */
  readonly pointer: string;
}

/**
 * Compiles a pipe; undefined when it has errors, which are in `build.errors`.
 * @param isRead whether code around the pipe reads the data of its replies.
 */
export function compilePipe(
  context: EndpointContext,
  endpoint: EndpointConfig,
  pointer: string,
  log: Log,
  isRead = false,
): CompiledPipe | undefined {
  const pipe = attachPipe(context, endpoint, pointer, log);
  if (!pipe) return undefined;
  describeMerge(pipe, log);
  return { ...pipe, step: foldPipe(context, pipe, endpoint, isRead) };
}

/** Attaches the parts of a pipe; undefined when it has errors, which are in `build.errors`. */
export function attachPipe(
  context: EndpointContext,
  endpoint: EndpointConfig,
  pointer: string,
  log: Log,
): AttachedPipe | undefined {
  const { build, registry } = context;
  const before = build.errors.length;
  const output = findEncoding(
    context,
    endpoint.output_encoding,
    joinPointer(pointer, 'output_encoding'),
    'write',
    endpoint,
  );
  const attached = attachEndpoint(context, endpoint, pointer, log);
  const backends = endpoint.backend.map((backend, at) =>
    attachBackend(context, endpoint, backend, joinPointer(pointer, 'backend', at), at, output, attached),
  );
  if (!output || build.errors.length > before) return undefined;
  const regular = backends.filter((backend) => !backend.shadow);
  const everything = [...attached, ...backends.flatMap((backend) => backend.attached)];
  if (regular.length === 0) build.errors.push(onlyShadows(backends, pointer));
  if (output.raw) refuseReaders(build, everything, output, pointer);
  const gathering = claimsOf(build, attached);
  if (build.errors.length > before) return undefined;
  const phase = (name: 'endpoint' | 'proxy') =>
    sortByOrder(
      attached.filter(({ at }) => at[name] !== undefined),
      registry.catalogue.order,
      name,
    );
  const endpointPhase = phase('endpoint');
  const proxyPhase = phase('proxy');
  reportHidden(build, [...endpointPhase, ...proxyPhase]);
  const isChosen = regular.some(({ condition }) => condition);
  return {
    output,
    attached,
    backends,
    gathering,
    endpointPhase,
    proxyPhase,
    ...payloadLimits(
      build.config.router.max_payload,
      attached.map(({ at }) => at.payload?.maxBytes ?? 0),
    ),
    readsData: everything.some(({ at }) => at.readsData),
    heedsCall: proxyPhase.length === 0 && !isChosen && !gathering.gather && regular.every((each) => each.heedsCall),
    sets: headersSet([...context.service, ...everything]),
    stages: {
      around: stagesAround(endpointPhase, proxyPhase, attached, regular.length > 1, output.messages !== undefined),
      backends: backends.map((backend) => backend.stages),
    },
    pointer,
  };
}

const noHeaders: ReadonlySet<string> = new Set();

function headersSet(attached: readonly Attached<AttachmentTraits>[]): ReadonlySet<string> {
  const names = attached.flatMap(({ at }) => at.sets ?? []);
  return names.length === 0 ? noHeaders : new Set(names.map((name) => name.toLowerCase()));
}

function onlyShadows(backends: readonly AttachedBackend[], pointer: string): ConfigError {
  const message = 'every backend is a shadow: the request would have no response';
  return new ConfigError('ENDPOINT_BACKENDS', joinPointer(pointer, 'backend'), message, {
    hint: 'remove "shadow" from one of the backends',
    related: backends.flatMap(({ attached }) =>
      attached.filter(({ at }) => at.shadow).map((shadow) => `${shadow.pointer}/shadow`),
    ),
  });
}

function claimsOf(build: Build, attached: readonly Attached<AtEndpoint>[]): Pick<Gathering, 'gather' | 'combine'> {
  return {
    gather: onlyClaim(build, attached, 'gather', 'decide how the backends are called'),
    combine: onlyClaim(build, attached, 'combine', 'decide how the responses are merged'),
  };
}

/** Reports components that read data where bytes pass undecoded, unless they read message by message. */
function refuseReaders(
  build: Build,
  attached: readonly Attached<AtEndpoint | AtBackend>[],
  output: Encoding,
  pointer: string,
): void {
  for (const { plugin, at, pointer: component } of attached) {
    if (at.readsData !== true || (output.messages && at.message)) continue;
    const reason = output.messages ? 'has no complete data' : 'passes bytes undecoded';
    const message = `"${plugin.name}" requires decoded data, but output_encoding "${output.name}" ${reason}`;
    build.errors.push(
      new ConfigError('ENDPOINT_NO_DATA', joinPointer(pointer, 'output_encoding'), message, {
        hint: `use an output_encoding that decodes, such as "json", or remove "${plugin.name}"`,
        related: [component],
      }),
    );
  }
}
