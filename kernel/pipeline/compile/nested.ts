import {
  type AtService,
  CallError,
  ConfigError,
  type EndpointConfig,
  type PipeRequest,
  Reply,
  type Step,
} from '#contract';
import type { Attached } from '../attach/attach.ts';
import type { EndpointContext } from '../attach/attachments.ts';
import type { PipeStages } from '../steps/stages.ts';
import { withTimeout } from '../steps/with-timeout.ts';
import { compilePipe } from './pipe.ts';

/** A pipe nested in a component. */
export interface NestedPipe {
  /** Location of the pipe in the configuration. */
  readonly pointer: string;
  readonly config: EndpointConfig;
  readonly stages: PipeStages;
}

/**
 * Returns a context in which components can compile their pipes; each pipe is compiled once, and recorded in `nested`.
 */
export function nesting(context: Omit<EndpointContext, 'compilePipe'>, nested: NestedPipe[]): EndpointContext {
  const steps = new Map<string, Step<PipeRequest>>();
  const own: EndpointContext = {
    ...context,
    compilePipe(config, pointer) {
      let step = steps.get(pointer);
      if (!step) {
        step = compileNested(own, config, pointer, nested);
        steps.set(pointer, step);
      }
      return step;
    },
  };
  return own;
}

function compileNested(
  context: EndpointContext,
  config: EndpointConfig,
  pointer: string,
  nested: NestedPipe[],
): Step<PipeRequest> {
  const log = context.log.at(`[ENDPOINT: /__workflow/${config.endpoint.replace(/^\//, '')}]`);
  const service = context.service.map(withoutEndpoints);
  const inner = { ...context, service, offers: context.offers.within(), counting: undefined };
  const pipe = compilePipe(inner, config, pointer, log);
  // The placeholder is never called, because the errors of the pipe reject the configuration.
  if (!pipe) return unusable;
  for (const { plugin, pointer: at } of pipe.endpointPhase) {
    const message = `"${plugin.name}" requires a client request, which pipelines inside a component do not have`;
    context.build.errors.push(new ConfigError('PIPE_COMPONENT', at, message, { hint: 'move it to the endpoint' }));
  }
  nested.push({ pointer, config, stages: pipe.stages });
  return withTimeout(config.timeout, pipe.step);
}

/** Removes attachments to every endpoint, because they already wrap the endpoint that contains this pipe. */
function withoutEndpoints(attached: Attached<AtService>): Attached<AtService> {
  const { eachEndpoint: _none, ...at } = attached.at;
  return { ...attached, at };
}

const unusable: Step<PipeRequest> = () => Reply.failed(new CallError('PIPE_INVALID', 'the pipeline is not valid'));
