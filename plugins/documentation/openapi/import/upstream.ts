import { type DataObject, isObject } from '#contract';
import type { SpecOperation } from './operations.ts';

/** Upstream of an operation: an address without a path, and the path prefix. */
export type Upstream = { readonly host: string; readonly path: string } | { readonly error: string };

/** @param baseHost address that replaces those of the servers. */
export function readUpstream({ servers }: SpecOperation, document: DataObject, baseHost: string | undefined): Upstream {
  const written = document['swagger'] === undefined ? addressIn(servers[0]) : addressOfSwagger(document);
  const address = /^https?:\/\//i.test(written) && URL.canParse(written) ? new URL(written) : undefined;
  const path = (address ? address.pathname : relativePath(written)).replace(/\/+$/, '');
  if (/[{}%?#*&]/.test(path)) return { error: `the path of the server ${written} is not valid` };
  if (baseHost !== undefined) return { host: baseHost.replace(/\/+$/, ''), path };
  if (!address) return { error: 'the document names no server: use --base-host' };
  return { host: address.origin, path };
}

function relativePath(written: string): string {
  return written.startsWith('/') && !written.startsWith('//') ? written : '';
}

/** Returns the address of a server, with the defaults of its variables. */
function addressIn(server: DataObject | undefined): string {
  const { url, variables } = server ?? {};
  if (typeof url !== 'string') return '';
  return url.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable =
      isObject(variables ?? null) && Object.hasOwn(variables as object, name) ? (variables as DataObject)[name] : null;
    const preset = isObject(variable ?? null) ? (variable as DataObject)['default'] : undefined;
    return preset === undefined ? whole : String(preset);
  });
}

function addressOfSwagger({ host, basePath = '/', schemes }: DataObject): string {
  if (typeof host !== 'string' || host === '') return String(basePath);
  const known = Array.isArray(schemes) ? schemes : [];
  const scheme = known.includes('https') || !known.includes('http') ? 'https' : 'http';
  return `${scheme}://${host}/${String(basePath).replace(/^\/+/, '')}`;
}
