import { type Conversion, type Data, type DataObject, getPath, isObject } from '#contract';

const name = 'ai/mcp';

/**
 * Expands an endpoint without a method, if it is the only one with its path, into all methods of a server: POST, and
 * with sessions also GET and DELETE. Each copy keeps the endpoint's other components. Several endpoints with the same
 * path are left unchanged.
 */
export function answerAllMethods(document: DataObject, report: Conversion): void {
  const { endpoints } = document;
  if (!Array.isArray(endpoints)) return;
  const entries = [...endpoints.entries()].filter(([, endpoint]) => serverOf(endpoint) !== undefined);
  const paths = entries.map(([, endpoint]) => (endpoint as DataObject)['endpoint']);
  for (const [at, entry] of entries as [number, DataObject][]) {
    const isOnly = paths.filter((path) => path === entry['endpoint']).length === 1;
    if (!isOnly || Object.hasOwn(entry, 'method')) continue;
    const added = isStateless(document, serverOf(entry)!) ? [] : ['GET', 'DELETE'];
    for (const method of added) {
      report.moved('/endpoints', String(endpoints.length), String(at));
      endpoints.push({ ...structuredClone(entry), method });
    }
    entry['method'] = 'POST';
  }
}

/** Name of the server that an endpoint serves; undefined for any other endpoint. */
function serverOf(endpoint: Data): string | undefined {
  const server = isObject(endpoint) ? getPath(endpoint, ['extra_config', name, 'server_name']) : undefined;
  return typeof server === 'string' ? server : undefined;
}

function isStateless(document: DataObject, server: string): boolean {
  const servers = getPath(document, ['extra_config', name, 'servers']);
  const declared = Array.isArray(servers)
    ? servers.find((each) => isObject(each) && each['name'] === server)
    : undefined;
  return isObject(declared) && declared['stateless'] === true;
}
