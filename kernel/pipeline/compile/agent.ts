import {
  type AgentConfig,
  type AgentMessage,
  type AgentSite,
  type AgentStatus,
  type AtAgent,
  Call,
  CancelledError,
  ConfigError,
  HeaderBag,
  makeRequest,
  PipeRequest as NewPipeRequest,
  type PipeRequest,
  Query,
  Reply,
  RequestBody,
  type Step,
  toCallError,
} from '#contract';
import { joinPointer } from '../../config/index.ts';
import { type FaultOwner, runOwned } from '../../contract/internal.ts';
import { attach } from '../attach/attach.ts';
import type { EndpointContext } from '../attach/attachments.ts';
import type { Build } from '../attach/build.ts';
import { findPlugins } from '../attach/namespaces.ts';
import { settledReply } from '../steps/settle.ts';
import type { PipeStages } from '../steps/stages.ts';
import type { InFlight } from '../traffic/in-flight.ts';
import { type NestedPipe, nesting } from './nested.ts';
import { compilePipe } from './pipe.ts';

/** An agent with its driver attached. */
export interface CompiledAgent {
  readonly agent: AgentConfig;
  readonly pointer: string;
  readonly stages: PipeStages;
  readonly nested: readonly NestedPipe[];
  /** Namespace of its driver. */
  readonly driver: string;
  /** Current state; null if the driver does not report one. */
  status(): AgentStatus | null;
}

/**
 * Compiles one agent; undefined when it has errors, which are in `build.errors`. Codes: AGENT_DRIVER, PIPE_COMPONENT.
 */
export function compileAgent(service: EndpointContext, agent: AgentConfig, index: number): CompiledAgent | undefined {
  const { build } = service.build.forEndpoint();
  const { registry } = service;
  const pointer = `/async_agent/${index}`;
  const log = service.log.at(`[SERVICE: AsyncAgent][${agent.name}]`);
  const nested: NestedPipe[] = [];
  const context = nesting({ ...service, build, offers: service.offers.within() }, nested);
  const before = build.errors.length;
  const isDriver = (namespace: string) => registry.place(namespace, 'agent') !== undefined;
  const entries = Object.entries(agent.extra_config);
  const drivers = findPlugins(
    build,
    registry,
    Object.fromEntries(entries.filter(([namespace]) => isDriver(namespace))),
    'agent',
    pointer,
  );
  const around = Object.fromEntries(entries.filter(([namespace]) => !isDriver(namespace)));
  const pipe = compilePipe(context, { ...agent, extra_config: around }, pointer, log);
  for (const { plugin, pointer: at } of pipe?.endpointPhase ?? []) {
    // Components at the root are not reported, because they may be intended for endpoints only.
    if (!at.startsWith(`${pointer}/`)) continue;
    const message = `"${plugin.name}" has no effect: it requires a client request, which agents do not have`;
    build.warnings.push(new ConfigError('PIPE_COMPONENT', at, message, { hint: 'remove it from the agent' }));
  }
  const [driver, ...others] = drivers;
  if (build.errors.length === before && (!driver || others.length > 0))
    build.errors.push(notOneDriver(pointer, drivers));
  if (!pipe || !driver || build.errors.length > before) return undefined;
  const run = runner(agent, pipe.step, log, build);
  const { offers, compilePipe: nestedPipe } = context;
  const attached = attach<AtAgent>(build, driver.plugin, driver.place, driver.config, {
    pointer: driver.pointer,
    log,
    offers,
    compilePipe: nestedPipe,
    agent,
    run,
  });
  return build.errors.length > before
    ? undefined
    : {
        agent,
        pointer,
        stages: pipe.stages,
        nested,
        driver: driver.plugin.name,
        status: () => statusOf(attached),
      };
}

/** Drivers of plugins from files may throw. */
function statusOf(attached: AtAgent | undefined): AgentStatus | null {
  try {
    return attached?.status?.() ?? null;
  } catch {
    return null;
  }
}

function notOneDriver(pointer: string, drivers: readonly { readonly pointer: string }[]): ConfigError {
  const count = drivers.length === 0 ? 'found none' : `found ${drivers.length}`;
  return new ConfigError(
    'AGENT_DRIVER',
    joinPointer(pointer, 'extra_config'),
    `an agent must have exactly one driver, ${count}`,
    {
      related: drivers.map((driver) => driver.pointer),
    },
  );
}

/**
 * Returns a function that runs the pipe for one message, which counts as a call of the configuration like a client's
 * request.
 */
function runner(
  agent: AgentConfig,
  step: Step<PipeRequest>,
  log: Call['log'],
  build: Build,
): AgentSite<unknown>['run'] {
  const of = `a message of agent "${agent.name}"`;
  const host = { background: (work: Promise<unknown>) => build.calls?.background(work, of) };
  return async ({ body, headers = new HeaderBag() }: AgentMessage, signal?: AbortSignal) => {
    const client = makeRequest({ method: 'GET', path: agent.endpoint || '/', headers, body: RequestBody.of(body) });
    const call = new Call(log, agent.timeout, host);
    const giveUp = () => call.cancel(new CancelledError());
    const { calls } = build;
    const counted: InFlight = {
      slot: 0,
      abort() {
        giveUp();
        return of;
      },
    };
    calls?.enter(counted);
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      if (call.reason) return Reply.failed(toCallError(call.reason));
      const request = new NewPipeRequest(client, {}, new Query(), headers.copy(), client.body);
      const owner: FaultOwner = { place: 'message', describe: () => of, fail: giveUp };
      return await runOwned(owner, settledReply, step, request, call);
    } finally {
      signal?.removeEventListener('abort', giveUp);
      call.finish();
      calls?.leave(counted);
    }
  };
}
