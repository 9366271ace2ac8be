import {
  type AtBackend,
  atBackend,
  BackendError,
  type BackendSite,
  CallError,
  definePlugin,
  FirstUse,
  httpSigners,
  type Infer,
  type PipeRequest,
  paramKey,
  Reply,
  type Schema,
  toCallError,
} from '#contract';
import { CredentialChain, defaultRegion } from '../../clients/aws/credentials.ts';
import { regionField } from '../../clients/aws/region.ts';
import { paramOf } from '../../shared/parameters/value.ts';
import { addressIn, type Invoking, invoke } from './invoke.ts';

const schema = {
  type: 'object',
  title: 'AWS Lambda',
  examples: [
    { function_name: 'orders:live', region: 'eu-west-1', max_retries: 1 },
    { function_name: 'orders', region: 'eu-west-1', endpoint: 'http://127.0.0.1:4566' },
  ],
  properties: {
    function_name: {
      type: 'string',
      minLength: 1,
      description: 'Function name, optionally followed by a colon and an alias, or function ARN.',
      examples: ['orders:live'],
    },
    function_param_name: {
      type: 'string',
      minLength: 1,
      description: 'Path parameter that contains the function name. Default: function.',
      examples: ['function'],
    },
    region: { ...regionField, description: 'AWS region. Default: the region of the environment.' },
    endpoint: {
      type: 'string',
      description: 'Endpoint URL that replaces the AWS endpoint, for emulators.',
      examples: ['http://127.0.0.1:4566'],
    },
    max_retries: {
      type: 'integer',
      minimum: -1,
      maximum: 10,
      description: 'Maximum number of retries after throttling, server errors and connection failures. -1 means 3.',
      default: 0,
    },
  },
} as const satisfies Schema;

type Config = Infer<typeof schema>;

/** Default number of retries of the AWS clients. */
const STANDARD_RETRIES = 3;

/** Invokes AWS Lambda functions and returns their results. */
export const plugin = definePlugin({
  name: 'backend/lambda',
  description: 'Invokes an AWS Lambda function instead of an HTTP backend.',
  hostless: true,
  takes: [httpSigners],
  places: [atBackend(schema, attach)],
});

function attach(site: BackendSite<Config>): AtBackend {
  const { config, backend, endpoint, log } = site;
  const base = config.endpoint && URL.parse(config.endpoint);
  if (base === null || (base && !/^https?:$/.test(base.protocol))) {
    throw site.fault('LAMBDA_ENDPOINT', '/endpoint', `"${config.endpoint}" is not a valid URL`, {
      hint: 'http://127.0.0.1:4566',
    });
  }
  const { function_name: fixed, function_param_name: named } = config;
  if (fixed !== undefined && named !== undefined) {
    site.warn(
      'LAMBDA_NAME',
      '/function_param_name',
      'function_name takes precedence: function_param_name has no effect',
    );
  }
  const param = paramKey(named ?? 'function');
  if (fixed === undefined && !variablesOf(endpoint.endpoint).includes(param)) {
    site.warn(
      'LAMBDA_NAME',
      '',
      `the path has no placeholder {${named ?? 'function'}}: the function name is always empty`,
      {
        hint: 'set "function_name" if the function is always the same',
      },
    );
  }
  const address = config.endpoint || (config.region && addressIn(config.region));
  const at = config.endpoint ? '/endpoint' : '/region';
  const send = site.http({ followsRedirects: false, calls: address ? [{ address, at }] : [] });
  const credentials = site.keep('credentials', () => new CredentialChain(process.env));
  const region = new FirstUse(async () => config.region ?? (await defaultRegion(process.env)));
  const invoking: Invoking = {
    send,
    credentials,
    region: () => region.get(),
    endpoint: config.endpoint || undefined,
    maxRetries: config.max_retries < 0 ? STANDARD_RETRIES : config.max_retries,
    log,
  };
  let isReported = false;
  const failed = (error: unknown): Reply => {
    const failure = toCallError(error);
    if (!isReported && /^(?:AWS_CREDENTIALS|LAMBDA_REGION)$/.test(failure.code)) {
      isReported = true;
      log.error(`[Lambda] ${failure.message}`);
    }
    return Reply.failed(failure);
  };
  const payloadOf = (request: PipeRequest) =>
    (backend.method || request.method) === 'GET' ? paramsOf(request) : bodyOf(request);
  return {
    protocol: {
      replies: 'data',
      hostless: true,
      async call(request, call) {
        try {
          const name = fixed ?? paramOf(request, param);
          if (!name) throw new BackendError('LAMBDA_NAME', 'the request does not contain a function name');
          return await invoke(invoking, name, await payloadOf(request), request, call);
        } catch (error) {
          return failed(call.reason instanceof CallError ? call.reason : error);
        }
      },
    },
  };
}

/** Parameter keys of a path's variables. */
function variablesOf(path: string): string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => paramKey(name!));
}

/** Serializes the path variables as an object with lowercase names. */
function paramsOf({ params }: PipeRequest): Uint8Array {
  const named = Object.entries(params).map(([key, value]) => [key.toLowerCase(), value]);
  return Buffer.from(JSON.stringify(Object.fromEntries(named)));
}

function bodyOf({ body }: PipeRequest): Uint8Array | Promise<Uint8Array> {
  return body?.bytesToParse() ?? new Uint8Array();
}
