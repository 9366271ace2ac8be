import { isHeaderName, isHopByHop, type Site } from '#contract';
import type { UpstreamConfig } from './schema.ts';

/** Headers that the gateway sets itself. */
const own = /^(?:host|content-length|content-type|content-encoding|accept|accept-encoding|expect|user-agent|mcp-.*)$/;

/** Returns the gateway's own headers as a flat list. @throws ConfigError MCP_HEADER. */
export function sentHeaders(site: Site<unknown>, config: UpstreamConfig, at: string): readonly string[] {
  const { credentials, headers, forward_headers: forwarded } = config;
  const used = new Set(credentials === undefined ? [] : ['authorization']);
  const check = (name: string, pointer: string) => {
    const key = name.toLowerCase();
    if (!isHeaderName(name) || name === '*') {
      throw site.fault('MCP_HEADER', pointer, `"${name}" is not the name of a header`, {
        hint: 'List each header by name.',
      });
    }
    if (isHopByHop(key) || own.test(key)) {
      throw site.fault('MCP_HEADER', pointer, `${name} cannot be sent: the gateway sets it`);
    }
    if (used.has(key)) {
      throw site.fault('MCP_HEADER', pointer, `${name} is sent twice`, {
        hint: 'Write a header only in one of credentials, headers and forward_headers.',
      });
    }
    used.add(key);
  };
  for (const name of Object.keys(headers))
    check(name, `${at}/headers/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  for (const [index, name] of forwarded.entries()) check(name, `${at}/forward_headers/${index}`);
  return [
    ...['User-Agent', `Sluice Version ${site.use('version')}`],
    ...(credentials === undefined ? [] : ['Authorization', `Bearer ${credentials}`]),
    ...Object.entries(headers).flat(),
  ];
}
