import type { Infer, Schema } from '#contract';
import { failureFields } from '../lib/undecided.ts';

const names = (description: string, ...example: string[]) =>
  ({ type: 'array', items: { type: 'string', minLength: 1 }, description, default: [], examples: [example] }) as const;

export const schema = {
  type: 'object',
  title: 'External authorization',
  description: 'Server that decides on each request.',
  required: ['url'],
  examples: [
    {
      url: 'https://auth.example.com/verify',
      request_headers: ['Authorization', 'Cookie'],
      response_headers: ['X-User', 'X-Groups'],
      client_headers: ['Set-Cookie'],
    },
    {
      url: 'grpcs://authz.example.com:9191',
      timeout: '500ms',
      forward_body: true,
      context_extensions: { tenant: 'shop' },
    },
  ],
  properties: {
    url: {
      type: 'string',
      minLength: 1,
      description:
        "URL of the authorization server. With http and https, the server is called as by Traefik's ForwardAuth and nginx's auth_request; with grpc and grpcs, as by Envoy's ext_authz (`envoy.service.auth.v3.Authorization/Check`).",
      examples: ['https://auth.example.com/verify', 'grpc://authz.internal:9191'],
    },
    timeout: {
      type: 'duration',
      description: 'Timeout of one decision.',
      default: '5s',
    },
    request_headers: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description:
        'Client headers that are sent to the authorization server, case-insensitive. `*` sends all. Forwarding headers of clients are never sent, nor hop-by-hop headers.',
      default: ['*'],
      examples: [['Authorization', 'Cookie']],
    },
    forward_body: {
      type: 'boolean',
      description:
        'Sends the request body to the authorization server, which is then called with POST. Bodies are buffered.',
      default: false,
    },
    max_body_size: {
      type: 'integer',
      minimum: 1,
      description:
        'Maximum size of request bodies that are sent to the authorization server, in bytes. Larger ones are rejected with 413.',
      default: 65_536,
    },
    response_headers: names(
      "Headers that are copied from the authorization server's response to the requests to backends if the request is accepted. Client headers with these names are removed. With gRPC, the response can set other headers as well.",
      'X-User',
    ),
    client_headers: names(
      "Headers that are copied from the authorization server's response to the client's response if the request is accepted. Ignored with gRPC, where the authorization server's response names these headers itself.",
      'Set-Cookie',
    ),
    context_extensions: {
      type: 'object',
      values: { type: 'string', description: 'Value of the context extension.' },
      description:
        'Context extensions: additional entries that are sent to the gRPC server, for example the name of the route.',
      default: {},
      examples: [{ tenant: 'shop' }],
    },
    cache_ttl: {
      type: 'duration',
      description:
        "Time for which each process caches a decision that accepts the request. `Cache-Control` in the authorization server's response can shorten it; responses with `Set-Cookie` and rejections are never cached. 0s disables the cache.",
      default: '0s',
      examples: ['10s'],
    },
    cache_headers: names(
      'Request headers that are part of the cache key, in addition to method, host, path, query and client address. They must identify the client. Required with cache_ttl.',
      'Authorization',
    ),
    ...failureFields,
  },
} as const satisfies Schema;

export type ExternalConfig = Infer<typeof schema>;
