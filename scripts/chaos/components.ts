/** Ways in which the server or broker that a component connects to fails. */
export const outages = ['silent', 'gone', 'resets', 'nonsense'] as const;

/** `silent`: accepts and never responds. `gone`: refuses connections. `resets`: resets each. `nonsense`: responds with something else. */
export type Outage = (typeof outages)[number];

/** Response to a request during an outage: its status, and the setting that limits its duration. */
export interface Meanwhile {
  readonly status: number;
  /** `at once`: as soon as the outage is known; otherwise a limit, by default the timeout of the endpoint. */
  readonly within: 'at once' | 'timeout' | (string & {});
}

/** Behavior of one component while its server or broker fails. */
export interface ComponentRow {
  readonly component: string;
  /** Server or broker that the component connects to. */
  readonly side: string;
  readonly meanwhile: Readonly<Record<Outage, Meanwhile>>;
  /** Time at which requests are served again after the server or broker has recovered. */
  readonly recovery: string;
}

const fails = (within: Meanwhile['within']): Meanwhile => ({ status: 500, within });
/** Response to a request on which a server must decide. */
const undecided = (within: Meanwhile['within']): Meanwhile => ({ status: 503, within });
const serves: Meanwhile = { status: 200, within: 'at once' };
const all = (each: Meanwhile): ComponentRow['meanwhile'] => ({
  silent: each,
  gone: each,
  resets: each,
  nonsense: each,
});
/** Behavior of a call that a client waits for. */
const asked = {
  silent: fails('timeout'),
  gone: fails('at once'),
  resets: fails('at once'),
  nonsense: fails('at once'),
};
/** Behavior of a component that sends commands to Redis. */
const counted = { ...asked, silent: fails('command_timeout') };
const nextRequest = 'the next request';
const reconnection = 'max_retry_backoff of the connection (512 ms)';

export const componentRows: readonly ComponentRow[] = [
  { component: 'backend/http', side: 'the backend', meanwhile: asked, recovery: nextRequest },
  { component: 'backend/graphql', side: 'the backend', meanwhile: asked, recovery: nextRequest },
  { component: 'backend/soap', side: 'the backend', meanwhile: asked, recovery: nextRequest },
  { component: 'backend/lambda', side: 'Lambda', meanwhile: asked, recovery: nextRequest },
  {
    component: 'backend/grpc',
    side: 'the gRPC server',
    meanwhile: asked,
    recovery: 'the pause of the channel (1 s at first)',
  },
  { component: 'ai/llm', side: 'the model', meanwhile: asked, recovery: nextRequest },
  {
    component: 'ai/router with a failover',
    side: 'the first provider',
    meanwhile: { ...all(serves), silent: { status: 200, within: 'attempt_timeout' } },
    recovery: 'the cooldown',
  },
  {
    component: 'ai/classifiers with a failover',
    side: 'the server of the classifier',
    meanwhile: { ...all(serves), silent: { status: 200, within: 'timeout of the classifier (2 s)' } },
    recovery: nextRequest,
  },
  {
    component: 'ai/prompt-guard, classifier',
    side: 'the server of the classifier',
    meanwhile: {
      ...all({ status: 403, within: 'at once' }),
      silent: { status: 403, within: 'timeout of the guard (2 s)' },
    },
    recovery: nextRequest,
  },
  {
    component: 'ai/prompt-guard, classifier, on_failure_block false',
    side: 'the server of the classifier',
    meanwhile: { ...all(serves), silent: { status: 200, within: 'timeout of the guard (2 s)' } },
    recovery: nextRequest,
  },
  {
    component: 'ai/semantic-cache',
    side: 'the embeddings server',
    meanwhile: { ...all(serves), silent: { status: 200, within: 'timeout of the embedder (2 s)' } },
    recovery: nextRequest,
  },
  {
    component: 'ai/semantic-cache in Redis',
    side: 'Redis',
    meanwhile: { ...all(serves), silent: { status: 200, within: 'command_timeout' } },
    recovery: reconnection,
  },
  {
    component: 'ai/mcp, tools of an upstream server',
    side: 'the upstream server',
    // The body is the error of a tool.
    meanwhile: { ...all(serves), silent: { status: 200, within: 'timeout of the upstream server (10 s)' } },
    recovery: '10 s after the last failed request for its tools',
  },
  {
    component: 'backend/retry',
    side: 'the backend',
    meanwhile: { ...asked, silent: fails('attempt_timeout, for each attempt') },
    recovery: nextRequest,
  },
  {
    component: 'backend/pubsub/publisher (NATS)',
    side: 'the broker',
    meanwhile: { ...asked, silent: fails('timeout') },
    recovery: 'one second',
  },
  { component: 'auth/client-credentials', side: 'the token server', meanwhile: asked, recovery: nextRequest },
  {
    component: 'auth/validator, keys not loaded',
    side: 'the key server',
    meanwhile: { ...all({ status: 401, within: 'at once' }), silent: { status: 401, within: 'timeout' } },
    recovery: '5 s after the last failed download',
  },
  { component: 'auth/validator, keys loaded', side: 'the key server', meanwhile: all(serves), recovery: nextRequest },
  {
    component: 'auth/introspection, token not cached',
    side: 'the authorization server',
    meanwhile: { ...all(undecided('at once')), silent: undecided('timeout of the component (5 s)') },
    recovery: nextRequest,
  },
  {
    component: 'auth/introspection, token not cached, on_failure_allow',
    side: 'the authorization server',
    meanwhile: {
      ...all(serves),
      silent: { status: 200, within: 'timeout of the component (5 s)' },
      nonsense: undecided('at once'),
    },
    recovery: nextRequest,
  },
  {
    component: 'auth/introspection, token cached',
    side: 'the authorization server',
    meanwhile: all(serves),
    recovery: nextRequest,
  },
  {
    component: 'auth/oidc, session in cookies',
    side: 'the provider',
    meanwhile: all(serves),
    recovery: nextRequest,
  },
  {
    component: 'auth/oidc, access token expired',
    side: 'the provider',
    meanwhile: { ...all(undecided('at once')), silent: undecided('timeout of the provider (5 s)') },
    recovery: nextRequest,
  },
  {
    component: 'auth/oidc, session in Redis',
    side: 'Redis',
    meanwhile: { ...all(undecided('at once')), silent: undecided('command_timeout') },
    recovery: reconnection,
  },
  {
    component: 'auth/external, over HTTP',
    side: 'the authorization server',
    // Any response with 2xx accepts the request.
    meanwhile: {
      ...all(undecided('at once')),
      silent: undecided('timeout of the component (5 s)'),
      nonsense: serves,
    },
    recovery: nextRequest,
  },
  {
    component: 'auth/external, over gRPC',
    side: 'the authorization server',
    meanwhile: { ...all(undecided('at once')), silent: undecided('timeout of the component (5 s)') },
    recovery: 'the pause of the channel (1 s at first)',
  },
  { component: 'qos/ratelimit/router/redis', side: 'Redis', meanwhile: counted, recovery: reconnection },
  {
    component: 'qos/ratelimit/router/redis, on_failure_allow',
    side: 'Redis',
    meanwhile: { ...all(serves), silent: { status: 200, within: 'command_timeout' } },
    recovery: reconnection,
  },
  { component: 'governance/quota', side: 'Redis', meanwhile: counted, recovery: reconnection },
  {
    component: 'qos/http-cache, stale-if-error',
    side: 'the backend',
    meanwhile: { ...all(serves), silent: { status: 200, within: 'timeout' }, nonsense: fails('at once') },
    recovery: nextRequest,
  },
  {
    component: 'secrets/vault',
    side: 'the Vault server',
    meanwhile: all(serves),
    recovery: nextRequest,
  },
  {
    component: 'secrets/aws-sm',
    side: 'AWS Secrets Manager',
    meanwhile: all(serves),
    recovery: nextRequest,
  },
  {
    component: 'telemetry/opentelemetry',
    side: 'the collector',
    meanwhile: all(serves),
    recovery: 'its longest pause (30 s)',
  },
  { component: 'telemetry/gelf', side: 'the log server', meanwhile: all(serves), recovery: 'its longest pause (30 s)' },
  { component: 'telemetry/influx', side: 'InfluxDB', meanwhile: all(serves), recovery: 'the next push (ttl)' },
];

/** Ways in which the file system of a component fails. */
export const fileFailures = ['full', 'denied', 'broken', 'slow'] as const;

/** Behavior of a component while its files cannot be used: responses are the same as without a failure. */
export interface FilesRow {
  readonly component: string;
  readonly files: string;
  readonly recovery: string;
}

export const filesRows: readonly FilesRow[] = [
  { component: 'telemetry/recorder', files: 'its folder', recovery: 'the next recording' },
];

/** The tables as Markdown. */
export function printComponents(rows: readonly ComponentRow[] = componentRows): string {
  const cell = ({ status, within }: Meanwhile) =>
    `${status} ${within === 'timeout' ? 'at the timeout' : within === 'at once' ? within : `after ${within}`}`;
  const lines = rows.map(({ component, side, meanwhile, recovery }) => {
    const cells = outages.map((outage) => cell(meanwhile[outage]));
    return `| ${[component, side, ...cells, recovery].join(' | ')} |`;
  });
  return [
    '# When the other side fails',
    '',
    'The response to a request while the other side of a component fails, the limit of its time, and when requests are served',
    'again. `test/chaos/components.test.ts` tests each cell; a client that disconnects never counts as a failure',
    '(`test/plugins/disconnects.test.ts`). Made by `node scripts/chaos.ts --table`.',
    '',
    `| Component | Other side | ${outages.map((outage) => titles[outage]).join(' | ')} | Recovers |`,
    `| ${Array.from({ length: outages.length + 3 }, () => '---').join(' | ')} |`,
    ...lines,
    '',
    '## Files',
    '',
    '`test/chaos/files.test.ts` tests each cell.',
    '',
    `| Component | Files | ${fileFailures.map((failure) => fileTitles[failure]).join(' | ')} | Recovers |`,
    `| ${Array.from({ length: fileFailures.length + 3 }, () => '---').join(' | ')} |`,
    ...filesRows.map(
      ({ component, files, recovery }) =>
        `| ${[component, files, ...fileFailures.map(() => '200 at once'), recovery].join(' | ')} |`,
    ),
    '',
  ].join('\n');
}

const fileTitles: Readonly<Record<(typeof fileFailures)[number], string>> = {
  full: 'full disk',
  denied: 'permission denied',
  broken: 'input/output errors',
  slow: 'slow disk',
};

const titles: Readonly<Record<Outage, string>> = {
  silent: 'accepts connections, never responds',
  gone: 'refuses connections',
  resets: 'resets connections',
  nonsense: 'responds with invalid data',
};
