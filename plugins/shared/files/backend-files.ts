import {
  BackendError,
  type EndpointConfig,
  type EndpointSite,
  HeaderBag,
  type Infer,
  type Log,
  type PipeRequest,
  Reply,
} from '#contract';
import type { directoryFields } from './directory-setting.ts';
import { asDirectory, readFilePath } from './file-path.ts';
import { type Refusal, serveFile } from './serve-file.ts';

/** Largest file that is decoded, in bytes. */
const DECODED_BYTES = 10 * 1024 * 1024;

/** Settings of a served directory. */
type Directory = Infer<{
  readonly type: 'object';
  readonly properties: typeof directoryFields;
  readonly required: ['path'];
}>;

/** Replies to a backend call with the file at a decoded path below a directory; null for an invalid path. */
export type BackendFiles = (path: string | null, request: PipeRequest) => Promise<Reply> | Reply;

/**
 * Serves files as the replies of a backend. Undecoded replies support conditional and range requests, with the headers
 * that the endpoint forwards; otherwise whole files are returned, up to 10 MiB.
 */
export function backendFiles(directory: Directory, site: EndpointSite<unknown>): BackendFiles {
  const { log, endpoint } = site;
  const passes = site.encoding(endpoint.output_encoding)?.raw === true;
  const redirects = passes && isSubtree(endpoint);
  return (path, { method, headers, client }) => {
    const isHead = method === 'HEAD';
    if (method !== 'GET' && !isHead) return passes ? empty(405, ['Allow', 'GET, HEAD']) : wrongMethod(method);
    const requested = path === null ? null : readFilePath(path);
    if (!requested) return empty(404);
    const search = client.search === '' ? '' : `?${client.search}`;
    const sent = serveFile(directory.path, directory.directory_listing, {
      ...requested,
      requested: passes ? headers : new HeaderBag(),
      isHead,
      location: redirects ? asDirectory(client.path) + search : null,
      ...(!passes && { maxBytes: DECODED_BYTES }),
    });
    return sent.then((reply) => (reply instanceof Reply ? reply : refusal(reply, passes, log)));
  };
}

/** Whether the endpoint also matches paths with an additional slash. */
function isSubtree({ endpoint }: EndpointConfig): boolean {
  return endpoint.endsWith('/*') || endpoint === '/__catchall';
}

function refusal({ status, error }: Refusal, passes: boolean, log: Log): Reply {
  if (!error) return empty(status);
  log.error(error.message);
  return passes ? empty(status) : failed('STATIC_READ', error.message, status);
}

function wrongMethod(method: string): Reply {
  return failed('STATIC_METHOD', `files cannot be requested with ${method}`, 405);
}

function failed(code: string, message: string, upstreamStatus: number): Reply {
  return Reply.failed(new BackendError(code, message, { upstreamStatus }));
}

function empty(status: number, headers: string[] = []): Reply {
  return Reply.raw(status, new HeaderBag(headers), null);
}
