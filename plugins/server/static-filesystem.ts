import {
  atService,
  type ClientRequest,
  definePlugin,
  HeaderBag,
  type Infer,
  Reply,
  type Schema,
  type Site,
  servedSlot,
} from '#contract';
import { checkDirectory, directoryFields } from '../shared/files/directory-setting.ts';
import { asDirectory, decodePath, readFilePath } from '../shared/files/file-path.ts';
import { belowPrefix } from '../shared/files/path-prefix.ts';
import { serveFile } from '../shared/files/serve-file.ts';
import { type CountRequest, countingFor, serviceLimits } from '../shared/ports/service-limits.ts';

const name = 'server/static-filesystem';

const schema = {
  type: 'object',
  title: 'Static web server',
  examples: [
    { prefix: '/media/', path: './samples' },
    { prefix: '/', path: './samples', skip: ['/api'], directory_listing: true },
  ],
  required: ['prefix', 'path'],
  properties: {
    prefix: {
      type: 'string',
      pattern: '^/',
      description:
        'Path prefix to serve files under. Matches whole path segments unless it ends with a slash. "/" serves every path except those in `skip`, the health path and the readiness path. Endpoints below the prefix are never reached.',
      examples: ['/media/'],
    },
    ...directoryFields,
    skip: {
      type: 'array',
      items: { type: 'string', pattern: '^/' },
      description: 'Path prefixes below `prefix` that are not served from files but matched to endpoints.',
      default: [],
      examples: [['/media/api']],
    },
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/**
 * Serves files from a directory, before endpoints are matched. Paths below the prefix are always handled here, whether
 * the file exists or not. Components of endpoints do not apply; those of the service do, including its limits.
 *
 * Configuration error: `STATIC_PATH`; warning `STATIC_HIDES`, for an unreachable endpoint.
 */
export const plugin = definePlugin({
  name,
  description: 'Serves files from a directory, before endpoints are matched.',
  leaves: ['requests', 'data'],
  takes: [serviceLimits],
  independent: true,
  places: [
    atService(schema, (site) => {
      const { config, log } = site;
      checkDirectory(site, config.path);
      const restOf = serving(site);
      const refused = refusals(site);
      const serve = async (request: ClientRequest, rest: string): Promise<Reply> => {
        const path = readFilePath(rest);
        if (!path) return refused({ status: 404 });
        const search = request.search === '' ? '' : `?${request.search}`;
        const sent = await serveFile(config.path, config.directory_listing, {
          ...path,
          requested: request.headers,
          isHead: request.method === 'HEAD',
          location: asDirectory(request.path) + search,
        });
        if (!(sent instanceof Reply)) {
          if (sent.error) log.error(sent.error.message);
          return refused(sent);
        }
        sent.complete = null;
        sent.headers.set('X-Content-Type-Options', 'nosniff');
        return sent;
      };
      const reply = (request: ClientRequest, rest: string): Reply | Promise<Reply> =>
        request.method === 'GET' || request.method === 'HEAD' ? serve(request, rest) : refused({ status: 405 });
      const count = countingFor(site.takeAll(serviceLimits));
      return {
        request: (next) => (request, call) => {
          const rest = restOf(request.path);
          if (rest === undefined) return next(request, call);
          call.set(servedSlot, { handledBy: name });
          return count ? counted(count(request, call), () => reply(request, rest)) : reply(request, rest);
        },
        eachEndpoint: ({ endpoint, warn }) => {
          const path = endpoint.endpoint.replace(/^\/__virtual\/[^/]*/, '');
          if (restOf(path) !== undefined) {
            const message = `"${name}" answers ${endpoint.method} ${path}: the endpoint is never reached`;
            warn('STATIC_HIDES', '/endpoint', message, { hint: `"skip": ["${path}"] in "${name}"` });
          }
          return {};
        },
      };
    }),
  ],
});

/** Returns the rejection of a limit, if one is exceeded, otherwise the reply. */
async function counted(refusal: ReturnType<CountRequest>, reply: () => Reply | Promise<Reply>): Promise<Reply> {
  const refused = await refusal;
  if (refused) refused.complete = null;
  return refused ?? reply();
}

/** The part of a path after the prefix, as on the wire; undefined for a path that is not served here. */
function serving({ config, setting }: Site<Config>): (path: string) => string | undefined {
  const {
    health_path: health,
    disable_health: noHealth,
    ready_path: ready,
    disable_ready: noReady,
  } = setting('router');
  const probes = [...(noHealth ? [] : [health]), ...(noReady ? [] : [ready])];
  const { prefix, skip } = config;
  return (path) => {
    const decoded = decodePath(path);
    if (decoded === null) return undefined;
    const rest = belowPrefix(decoded, prefix);
    if (rest === undefined || probes.includes(decoded)) return undefined;
    return skip.some((skipped) => belowPrefix(decoded, skipped) !== undefined) ? undefined : rest;
  };
}

const texts: Readonly<Record<403 | 404 | 405 | 413 | 500, string>> = {
  403: '403 forbidden',
  404: '404 page not found',
  405: '405 method not allowed',
  413: '413 content too large',
  500: '500 internal server error',
};

/** Responds with the router's bodies for missing resources. */
function refusals({ setting }: Site<Config>): (refusal: { status: keyof typeof texts; error?: Error }) => Reply {
  const custom = setting('router').error_body as { readonly [status: string]: object | undefined } | undefined;
  return ({ status }) => {
    const own = custom?.[status];
    const type = own ? 'application/json; charset=utf-8' : 'text/plain';
    const headers = new HeaderBag(['Content-Type', type, ...(status === 405 ? ['Allow', 'GET, HEAD'] : [])]);
    const reply = Reply.raw(status, headers, Buffer.from(own ? JSON.stringify(own) : texts[status]));
    reply.complete = null;
    return reply;
  };
}
