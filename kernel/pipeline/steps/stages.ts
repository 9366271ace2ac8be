import type { AtBackend, AtEndpoint, Namespace, Plugin } from '#contract';

interface Attached<A> {
  readonly plugin: Plugin;
  readonly at: A;
}

/** A component in a built pipe, and the hook of it that is used there. */
export interface Stage {
  readonly as: Exclude<keyof AtEndpoint | keyof AtBackend, 'readsData' | 'terminal'>;
  readonly namespace: Namespace;
}

/** The stages of one backend's pipe. */
export interface BackendStages {
  /** Outermost first; the last one is the protocol. */
  readonly stages: readonly Stage[];
  /** Condition of the call in words; null if the backend is always called. */
  readonly condition: string | null;
  /** Whether the protocol has its own address, so that the backend's hosts are not used. */
  readonly hostless: boolean;
  /** Whether the protocol always sends the query of the `url_pattern`. */
  readonly keepsQuery: boolean;
}

/** The stages of an endpoint's pipe. */
export interface PipeStages {
  /** Stages around all backends, outermost first. */
  readonly around: readonly Stage[];
  /** Stages of each backend, in declaration order. */
  readonly backends: readonly BackendStages[];
}

/**
 * Returns the stages around all backends.
 * @param endpoint wraps in order. @param proxy wraps in order. @param merges whether the endpoint merges several
 * responses.
 * @param looks whether the output consists of messages that components can read.
 */
export function stagesAround(
  endpoint: readonly Attached<AtEndpoint>[],
  proxy: readonly Attached<AtEndpoint>[],
  attached: readonly Attached<AtEndpoint>[],
  merges: boolean,
  looks: boolean,
): Stage[] {
  const first = (as: 'shape' | 'gather' | 'combine') => having(as, attached).slice(0, 1);
  const gather = first('gather');
  return fitted([
    ...having('payload', attached),
    ...all('endpoint', endpoint),
    ...all('proxy', proxy),
    ...(looks ? having('message', attached) : []),
    ...(merges ? [...first('shape'), ...(gather.length > 0 ? gather : first('combine'))] : []),
  ]);
}

/**
 * Returns the stages of one backend.
 * @param protocol namespace of its protocol. @param reads whether its responses are decoded. @param looks see
 * `stagesAround`.
 */
export function stagesOfBackend(
  backend: readonly Attached<AtBackend>[],
  transport: readonly Attached<AtBackend>[],
  attached: readonly Attached<AtBackend>[],
  protocol: Namespace,
  reads: boolean,
  looks: boolean,
): Stage[] {
  return fitted([
    ...having('shadow', attached),
    ...having('attempts', attached),
    ...all('backend', backend),
    ...(looks ? having('message', attached) : []),
    ...(reads || looks ? having('shape', attached).slice(0, 1) : []),
    ...all('transport', transport),
    stage('protocol', protocol),
  ]);
}

/**
 * Copies a list to its exact size, because a list that has grown reserves space for 17 entries, and thousands of
 * endpoints have such a list.
 */
function fitted(stages: readonly Stage[]): Stage[] {
  return stages.slice();
}

function all(as: Stage['as'], attached: readonly Attached<unknown>[]): Stage[] {
  return attached.map(({ plugin }) => stage(as, plugin.name));
}

/** Stages of the components that have returned the given hook, such as `backend`. */
function having<A>(as: Stage['as'] & keyof A, attached: readonly Attached<A>[]): Stage[] {
  return all(
    as,
    attached.filter(({ at }) => at[as]),
  );
}

const stages = new Map<string, Stage>();

/** Returns the same object for equal stages, of which thousands of endpoints need only a few. */
function stage(as: Stage['as'], namespace: Namespace): Stage {
  const key = `${as} ${namespace}`;
  let stage = stages.get(key);
  if (!stage) {
    stage = Object.freeze({ as, namespace });
    stages.set(key, stage);
  }
  return stage;
}
