import type { AtBackend, AtEndpoint, Namespace, Plugin } from '#contract';

interface Standing<A> {
  readonly plugin: Plugin;
  readonly at: A;
}

/** A component in a built pipe, and the part of its attachment that stands there. */
export interface Stage {
  readonly as: Exclude<keyof AtEndpoint | keyof AtBackend, 'readsData' | 'terminal'>;
  readonly namespace: Namespace;
}

/** What one backend's pipe was folded from. */
export interface BackendStages {
  /** Outermost first; the last one reaches the backend. */
  readonly stages: readonly Stage[];
  /** The protocol carries its own address: the backend's hosts are not used. */
  readonly hostless: boolean;
  /** The protocol always sends the query of the `url_pattern`. */
  readonly keepsQuery: boolean;
}

/** What an endpoint's pipe was folded from. */
export interface PipeStages {
  /** Around all backends, outermost first. */
  readonly around: readonly Stage[];
  /** One for each backend, in order of declaration. */
  readonly backends: readonly BackendStages[];
}

/**
 * The stages around all backends.
 * @param endpoint wraps in order. @param proxy wraps in order. @param merges the endpoint merges several answers.
 * @param looks the output is of messages that components look into.
 */
export function stagesAround(
  endpoint: readonly Standing<AtEndpoint>[],
  proxy: readonly Standing<AtEndpoint>[],
  attached: readonly Standing<AtEndpoint>[],
  merges: boolean,
  looks: boolean,
): Stage[] {
  const first = (as: 'shape' | 'gather' | 'combine') => all(as, attached.filter(({ at }) => at[as]).slice(0, 1));
  const gather = first('gather');
  return fitted([
    ...all(
      'payload',
      attached.filter(({ at }) => at.payload),
    ),
    ...all('endpoint', endpoint),
    ...all('proxy', proxy),
    ...(looks
      ? all(
          'message',
          attached.filter(({ at }) => at.message),
        )
      : []),
    ...(merges ? [...first('shape'), ...(gather.length > 0 ? gather : first('combine'))] : []),
  ]);
}

/**
 * The stages of one backend.
 * @param protocol the namespace that reaches it. @param reads its answers are decoded. @param looks as for `stagesAround`.
 */
export function stagesOfBackend(
  backend: readonly Standing<AtBackend>[],
  transport: readonly Standing<AtBackend>[],
  attached: readonly Standing<AtBackend>[],
  protocol: Namespace,
  reads: boolean,
  looks: boolean,
): Stage[] {
  return fitted([
    ...all(
      'shadow',
      attached.filter(({ at }) => at.shadow),
    ),
    ...all('backend', backend),
    ...(looks
      ? all(
          'message',
          attached.filter(({ at }) => at.message),
        )
      : []),
    ...(reads || looks ? all('shape', attached.filter(({ at }) => at.shape).slice(0, 1)) : []),
    ...all('transport', transport),
    stage('protocol', protocol),
  ]);
}

/** A list that has grown has room for 17 entries; thousands of endpoints keep this one. */
function fitted(stages: readonly Stage[]): Stage[] {
  return stages.slice();
}

function all(as: Stage['as'], standing: readonly Standing<unknown>[]): Stage[] {
  return standing.map(({ plugin }) => stage(as, plugin.name));
}

const stages = new Map<string, Stage>();

/** One object for equal stages: thousands of endpoints are made of a few. */
function stage(as: Stage['as'], namespace: Namespace): Stage {
  const key = `${as} ${namespace}`;
  let stage = stages.get(key);
  if (!stage) {
    stage = Object.freeze({ as, namespace });
    stages.set(key, stage);
  }
  return stage;
}
