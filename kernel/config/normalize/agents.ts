import type { AgentConfig, ServiceConfig } from '#contract';
import type { Report } from '../issues/report.ts';
import type { Structure } from '../schema/structure.ts';
import type { KnownPlugins } from './known-plugins.ts';
import { completePipe } from './pipes.ts';

type Draft<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Fills in the defaults of async agents. The consumer's timeout applies to the pipe and to each of its backends.
 * Modifies the agents.
 *
 * Code: AGENT_NAME.
 */
export function completeAgents(
  service: ServiceConfig,
  structure: Structure,
  known: KnownPlugins,
  report: Report,
): void {
  const names = new Map<string, number>();
  for (const [index, agent] of service.async_agent.entries()) {
    const pointer = `/async_agent/${index}`;
    if (!structure.isSound(pointer)) continue;
    complete(agent, index, service);
    const { errors, warnings } = completePipe(agent, pointer, { service, known, timeout: agent.timeout, rules: {} });
    for (const error of errors) report.error(error.code, error.pointer, error.message, error);
    for (const warning of warnings) report.warn(warning.code, warning.pointer, warning.message, warning);
    const first = names.get(agent.name);
    if (first === undefined) names.set(agent.name, index);
    else {
      report.error('AGENT_NAME', `${pointer}/name`, `duplicate agent name "${agent.name}"`, {
        related: [`/async_agent/${first}/name`],
      });
    }
  }
}

function complete(agent: Draft<AgentConfig>, index: number, service: ServiceConfig): void {
  const { consumer } = agent;
  agent.name ||= `AsyncAgent-${String(index).padStart(2, '0')}`;
  agent.timeout = consumer.timeout || service.timeout;
  for (const backend of agent.backend as Draft<AgentConfig['backend'][number]>[]) delete backend.timeout;
}
