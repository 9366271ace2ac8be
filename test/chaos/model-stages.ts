import { modelBackend } from '../plugins/ai/llm/fixture.ts';
import { json, type Ports, plain, redisRoot, type Stage, url } from './stage.ts';

/** Time limit of the first of two providers. */
const SHARE = '500ms';

const guarded = (ports: Ports, more: object = {}): Stage => ({
  server: 'http',
  root: {
    'ai/prompt-guard': {
      guards: [
        {
          ...{ name: 'scored', kind: 'classifier', severity: 'high' },
          config: { url: `${url(ports.side)}/score`, score_threshold: 0.5, timeout: '300ms', ...more },
        },
      ],
    },
  },
  ...{ method: 'POST', headers: json, payload: '{"prompt":"hi"}' },
  endpoint: {
    method: 'POST',
    extra_config: { 'ai/prompt-guard': { guards: ['scored'] } },
    backend: plain(ports),
  },
});
/** Stages of components that call models, or servers that help to. */
export const modelStages: Readonly<Record<string, (ports: Ports) => Stage>> = {
  'ai/llm': ({ side }) => ({
    server: 'http',
    endpoint: { method: 'POST', backend: [modelBackend(url(side), 'openai')] },
    method: 'POST',
    headers: json,
    payload: '{"contents":"hi"}',
  }),
  'ai/router with a failover': ({ side, backend: healthy }) => ({
    server: 'http',
    root: {
      'ai/providers': {
        providers: Object.entries({ first: side, second: healthy }).map(([name, port]) => ({
          ...{ name, provider: 'openai', credentials: 'k', endpoint: url(port) },
        })),
      },
    },
    endpoint: {
      method: 'POST',
      backend: [
        {
          extra_config: {
            'ai/router': {
              routes: [{ provider: 'first' }],
              failover: 'second',
              attempt_timeout: SHARE,
              cooldown: '0s',
            },
          },
        },
      ],
    },
    method: 'POST',
    headers: json,
    payload: '{"contents":"hi"}',
  }),
  'ai/classifiers with a failover': ({ side, backend: healthy }) => ({
    server: 'http',
    root: {
      'ai/providers': {
        providers: ['first', 'second'].map((name) => ({
          ...{ name, provider: 'openai', credentials: 'k', endpoint: url(healthy) },
        })),
      },
      'ai/classifiers': {
        classifiers: [{ name: 'smart', engine: 'http', http: { url: `${url(side)}/choose`, timeout: '300ms' } }],
      },
    },
    endpoint: {
      method: 'POST',
      backend: [
        {
          extra_config: {
            'ai/router': {
              routes: [{ classifier: 'smart', providers: ['first', 'second'], failover: 'second' }],
            },
          },
        },
      ],
    },
    method: 'POST',
    headers: json,
    payload: '{"contents":"hi"}',
  }),
  'ai/prompt-guard, classifier': (ports) => guarded(ports),
  'ai/prompt-guard, classifier, on_failure_block false': (ports) => guarded(ports, { on_failure_block: false }),
  'ai/semantic-cache': ({ side, backend: port }) => ({
    server: 'http',
    root: {
      'ai/semantic-cache': { embedders: [{ name: 'default', url: `${url(side)}/embeddings`, timeout: '300ms' }] },
    },
    ...{ method: 'POST', headers: json, payload: '{"prompt":"hi"}' },
    endpoint: {
      method: 'POST',
      // Responses expire at once, so that each request needs a vector.
      extra_config: { 'ai/semantic-cache': { req_content: 'req_body.prompt', ttl: '1ms' } },
      backend: plain({ side, backend: port }),
    },
  }),
  'ai/semantic-cache in Redis': ({ side, backend: port }) => ({
    server: 'redis',
    root: {
      ...redisRoot(side),
      'ai/semantic-cache': { embedders: [{ name: 'default', url: `${url(port)}/embeddings` }] },
    },
    ...{ method: 'POST', headers: json, payload: '{"prompt":"hi"}' },
    endpoint: {
      method: 'POST',
      extra_config: { 'ai/semantic-cache': { req_content: 'req_body.prompt', redis_connection: 'r' } },
      backend: plain({ side, backend: port }),
    },
  }),
  'ai/mcp, tools of an upstream server': ({ side, backend: port }) => {
    const upstream = { name: 'far', url: `${url(side)}/mcp`, timeout: '300ms', list_ttl: '50ms' };
    const server = { stateless: true, json_response: true, tools: [], upstreams: [upstream] };
    const params = { name: 'far_lookup', arguments: { code: 'ES' } };
    return {
      server: 'mcp',
      root: { 'ai/mcp': { servers: [{ name: 'main', title: 'Main', version: '1.0.0', ...server }] } },
      ...{ method: 'POST', headers: { ...json, Accept: 'application/json, text/event-stream' } },
      payload: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      served: /Spain/,
      endpoint: {
        method: 'POST',
        extra_config: { 'ai/mcp': { server_name: 'main' } },
        backend: plain({ side, backend: port }),
      },
    };
  },
};
