import { type ClientRequest, type EndpointSite, isHeaderName, paramKey, type Site } from '#contract';
import { paramOf } from '../../shared/parameters/value.ts';
import type { McpContext } from './observed.ts';
import { prefixOf } from './remote/schema.ts';
import type { EndpointSettings, McpConfig, ServerConfig } from './schema.ts';

/**
 * Whether a request may list and call a tool, given by its name, or the tools of an upstream server, given by their
 * prefix.
 */
export type Offers = (key: string) => boolean;

/** A tool or an upstream server. */
interface Offered {
  readonly key: string;
  readonly named: string;
  readonly pointer: string;
  readonly audiences: readonly string[] | undefined;
}

type Source = NonNullable<ServerConfig['tool_audience_source']>;

/** Value in the `audiences` of a tool that matches any audience. */
const ANY = '*';

const always: Offers = () => true;
const never: Offers = () => false;

/**
 * Compiles the rules for the tools that a request may list and call. A server without a source has the same tools for all
 * requests.
 *
 * @throws ConfigError MCP_AUDIENCE. Warnings MCP_AUDIENCE, MCP_UNUSED.
 */
export function audienceRules(
  site: Site<McpConfig>,
  config: ServerConfig,
  pointer: string,
): (context: McpContext) => Offers {
  const { tool_audience_source: source } = config;
  const offered = offeredBy(config, pointer);
  if (!source) {
    for (const { audiences, pointer: at } of offered) {
      if (audiences) site.warn('MCP_UNUSED', `${at}/audiences`, 'audiences require tool_audience_source');
    }
    return () => always;
  }
  checkSource(site, source, `${pointer}/tool_audience_source`);
  const allowed = new Map(offered.map(({ key, audiences }) => [key, new Set(audiences ?? [])]));
  for (const { named, audiences = [], pointer: at } of offered) {
    if (audiences.length > 0 || source.on_absent_value === 'allow') continue;
    site.warn('MCP_AUDIENCE', at, `no client can use ${named}: it has no audiences`, {
      hint: `"audiences": ["${ANY}"]`,
    });
  }
  const absent = source.on_absent_value === 'allow' ? always : never;
  return ({ client }) => {
    const audiences = audiencesOf(client, source);
    if (audiences.length === 0) return absent;
    return (key) => {
      const own = allowed.get(key)!;
      return own.has(ANY) || audiences.some((audience) => own.has(audience));
    };
  };
}

function offeredBy({ tools, upstreams }: ServerConfig, pointer: string): Offered[] {
  const ofTools = tools.map(({ name, audiences }, index) => {
    return { key: name, named: `"${name}"`, pointer: `${pointer}/tools/${index}`, audiences };
  });
  const ofUpstreams = upstreams.map((upstream, index) => {
    const named = `the tools of "${upstream.name}"`;
    const at = `${pointer}/upstreams/${index}`;
    return { key: prefixOf(upstream), named, pointer: at, audiences: upstream.audiences };
  });
  return [...ofTools, ...ofUpstreams];
}

/** Checks that an endpoint has the path variable with the audiences. @throws ConfigError MCP_AUDIENCE. */
export function checkAudienceParam(site: EndpointSite<EndpointSettings>, source: Source | undefined): void {
  const param = source?.param_name;
  if (param === undefined || site.endpoint.endpoint.includes(`{${param}}`)) return;
  const message = `the path has no variable {${param}}, which param_name of the server requires`;
  throw site.fault('MCP_AUDIENCE', '/server_name', message);
}

function checkSource(site: Site<McpConfig>, { header_name: header, param_name: param }: Source, at: string): void {
  if (header === undefined && param === undefined) {
    throw site.fault('MCP_AUDIENCE', at, 'a source of audiences requires header_name or param_name');
  }
  if (header !== undefined && !isHeaderName(header)) {
    throw site.fault('MCP_AUDIENCE', `${at}/header_name`, `"${header}" is not the name of a header`);
  }
}

/** The audiences of a request, from the header and the path variable together. */
function audiencesOf(client: ClientRequest, { header_name: header, param_name: param }: Source): string[] {
  const written = header === undefined ? [] : client.headers.getAll(header.toLowerCase());
  const inPath = param === undefined ? undefined : paramOf(client, paramKey(param));
  return [...written, inPath ?? '']
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}
