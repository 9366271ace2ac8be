import {
  atBackend,
  type BackendSite,
  definePlugin,
  type Encoding,
  getPath,
  HeaderBag,
  type Infer,
  type PipeRequest,
  paramKey,
  pipeSchema,
  Reply,
  type Step,
  textOf,
} from '#contract';
import { workflowComponents, workflowDefaults, workflowEncoding } from './shared/workflows/pipe.ts';

/** Maximum nesting depth of workflows. */
const MAX_DEPTH = 16;

const schema = {
  ...pipeSchema(
    {
      endpoint: {
        type: 'string',
        minLength: 1,
        description:
          'Path pattern that serves as the name in logs. Backends of the workflow can use its {placeholders}. Clients cannot request the path.',
        examples: ['/enrich/{id}'],
      },
      output_encoding: workflowEncoding(
        'Encoding of the result. no-op passes the body of the single backend unchanged; all others return decoded data.',
      ),
      ignore_errors: {
        type: 'boolean',
        description:
          'Continues with the next backends after one fails. The result is then incomplete, but not an error.',
        default: false,
      },
    },
    {
      description:
        'Backends that are called instead of the surrounding backend, one after another unless proxy.sequential is false.',
      components: workflowComponents,
      defaults: workflowDefaults,
    },
  ),
  title: 'Workflow',
  required: ['endpoint', 'backend'],
  examples: [
    { endpoint: '/enrich', backend: [{ url_pattern: '/a', host: ['http://127.0.0.1:8081'] }] },
    {
      endpoint: '/both',
      ignore_errors: true,
      backend: [
        { url_pattern: '/a', host: ['http://127.0.0.1:8081'] },
        { url_pattern: '/b', host: ['http://127.0.0.1:8081'], group: 'b' },
      ],
    },
  ],
} as const;

type WorkflowSite = BackendSite<Infer<typeof schema>>;

/**
 * Serves a backend call with a pipe of its own: backends, their merge, and the components around them. The result is
 * processed by the outer backend's settings, and its other components wrap the whole workflow.
 *
 * Configuration error: `WORKFLOW_DEPTH`; warnings `WORKFLOW_PARAMETER`, `WORKFLOW_HOST`, `TIMEOUT_UNUSED`.
 */
export const plugin = definePlugin({
  name: 'workflow',
  description: 'Answers a backend call with a pipeline of other backends.',
  hostless: true,
  becomes: ['proxy'],
  places: [
    atBackend(schema, (site) => {
      refuseDepth(site);
      warnOfSlips(site);
      const { config, endpoint, pipe } = site;
      const isRaw = (name: string) => site.encoding(name)?.raw === true;
      const run = settled(handingOn(pipe(''), config.endpoint), config.ignore_errors);
      if (isRaw(config.output_encoding)) return { protocol: { call: run, hostless: true } };
      // The endpoint of the workflow passes bytes through undecoded, so the merged data is encoded.
      const call = isRaw(endpoint.output_encoding) ? encoded(run, site.encoding(config.output_encoding)!) : run;
      return { protocol: { call, hostless: true, replies: 'data' } };
    }),
  ],
});

function refuseDepth({ pointer, fault }: WorkflowSite): void {
  if (pointer.split('/extra_config/workflow').length - 1 <= MAX_DEPTH) return;
  throw fault('WORKFLOW_DEPTH', '', `workflows are nested more than ${MAX_DEPTH} levels deep`);
}

function warnOfSlips(site: WorkflowSite): void {
  const { config, endpoint, backend, warn, pointer } = site;
  const { host: hosts } = backend;
  const inherited = site.setting('host');
  if (hosts.some((host) => !inherited.includes(host))) {
    const message = `host ${JSON.stringify(hosts)} has no effect: the workflow itself calls no server`;
    const hint = 'move "host" to the backends of the workflow, which otherwise use the hosts of the root';
    warn('WORKFLOW_HOST', '', message, {
      hint,
      related: [`${pointer.slice(0, pointer.lastIndexOf('/extra_config/'))}/host`],
    });
  }
  if (config.timeout !== undefined && config.timeout > endpoint.timeout) {
    warn(
      'TIMEOUT_UNUSED',
      '/timeout',
      `the timeout never applies: the surrounding endpoint times out after ${endpoint.timeout}ms`,
    );
  }
  for (const name of placeholdersOf(config.endpoint)) {
    if (isOfEarlier(name) || placeholdersOf(endpoint.endpoint).includes(name)) continue;
    warn('WORKFLOW_PARAMETER', '/endpoint', `{${name}} has no value: ${endpoint.endpoint} does not declare it`);
  }
}

function placeholdersOf(path: string): string[] {
  return Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name]) => name!);
}

const ofEarlier = /^resp(\d+)_(.+)$/;

function isOfEarlier(name: string): boolean {
  return ofEarlier.test(name);
}

/**
 * Passes on responses of earlier backends outside the workflow, if the workflow's endpoint names them; the workflow's
 * own backends are numbered from 0 again.
 */
function handingOn(run: Step<PipeRequest>, endpoint: string): Step<PipeRequest> {
  const wanted = placeholdersOf(endpoint)
    .map((name) => ofEarlier.exec(name))
    .filter((match) => match !== null)
    .map(([name, index, path]) => ({ key: paramKey(name), index: Number(index), path: path!.split('.') }));
  return (request, call) => {
    for (const { key, index, path } of wanted) {
      const data = request.earlier[index]?.data;
      const value = data ? getPath(data, path) : undefined;
      if (value !== undefined) request.params[key] = textOf(value);
    }
    request.earlier = [];
    return run(request, call);
  };
}

/** Makes a pipe that ignores errors return an empty success instead of a failure, even if no backend succeeded. */
function settled(run: Step<PipeRequest>, ignoresErrors: boolean): Step<PipeRequest> {
  if (!ignoresErrors) return run;
  return async (request, call) => {
    const reply = await run(request, call);
    if (reply.data !== null || reply.body !== null || reply.skipped) return reply;
    const empty = Reply.data({}, false);
    empty.errors = reply.errors;
    return empty;
  };
}

function encoded(run: Step<PipeRequest>, encoding: Encoding): Step<PipeRequest> {
  return async (request, call) => {
    const reply = await run(request, call);
    if (reply.data === null) return reply;
    const { body, contentType } = encoding.encode!(reply.data, request.headers.get('accept'));
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    return Reply.raw(reply.status, new HeaderBag(['Content-Type', contentType]), bytes);
  };
}
