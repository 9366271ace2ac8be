import type { Site } from '#contract';
import type { Observers } from '../observed.ts';
import type { UpstreamConfig } from './schema.ts';
import { compileUpstream, type Upstream } from './upstream.ts';

/**
 * Compiles the upstream servers of a server. Every tool name belongs to at most one of them, and to none if the server
 * declares it.
 * @param own names of the tools that the server declares. @param at relative pointer of the list.
 * @throws ConfigError MCP_DUPLICATE, MCP_PREFIX, and those of `compileUpstream`.
 */
export function compileUpstreams(
  site: Site<unknown>,
  configs: readonly UpstreamConfig[],
  own: Iterable<string>,
  at: string,
  observers: Observers,
): readonly Upstream[] {
  const names = [...own];
  const upstreams: Upstream[] = [];
  for (const [index, config] of configs.entries()) {
    const pointer = `${at}/${index}`;
    if (configs.slice(0, index).some(({ name }) => name === config.name)) {
      throw site.fault('MCP_DUPLICATE', `${pointer}/name`, `duplicate upstream name "${config.name}"`);
    }
    const upstream = compileUpstream(site, config, pointer, observers);
    const { prefix } = upstream;
    const fault = (taken: string) =>
      site.fault('MCP_PREFIX', `${pointer}/prefix`, `the prefix "${prefix}" collides with ${taken}`, {
        hint: 'Set "prefix" to a text that no other prefix or tool name of the server begins with.',
      });
    const other = upstreams.find((each) => each.prefix.startsWith(prefix) || prefix.startsWith(each.prefix));
    if (other) throw fault(`the prefix "${other.prefix}"`);
    const tool = names.find((name) => name.startsWith(prefix));
    if (tool !== undefined) throw fault(`the tool "${tool}"`);
    upstreams.push(upstream);
  }
  return upstreams;
}
