import type { Infer, Schema } from '#contract';
import { keyServerFields } from '../../clients/keys/schema.ts';
import { failureFieldsFor } from '../lib/undecided.ts';
import { algorithmChoices } from './algorithms.ts';

const alg = {
  type: 'string',
  enum: algorithmChoices,
  description:
    'Signature algorithm by its JWS name. In RFC 9421, EdDSA is called ed25519, ES256 ecdsa-p256-sha256, ES384 ecdsa-p384-sha384, PS512 rsa-pss-sha512, RS256 rsa-v1_5-sha256 and HS256 hmac-sha256.',
  examples: ['EdDSA'],
} as const;

const tag = (description: string) =>
  ({ type: 'string', description, default: '', examples: ['web-bot-auth'] }) as const;

export const endpointSchema = {
  type: 'object',
  title: 'Signatures of requests',
  description: 'Requires a valid HTTP message signature (RFC 9421) of each request.',
  required: ['alg'],
  exactlyOneOf: [['jwk_url', 'jwk_local_path']],
  examples: [
    { alg: 'HS256', jwk_local_path: 'samples/tokens/keys.json' },
    {
      alg: 'EdDSA',
      jwk_url: 'https://partner.example.com/.well-known/jwks.json',
      required_components: ['@method', '@authority', '@path', '@query', 'content-type'],
      max_age: '1m',
      require_nonce: true,
      tag: 'orders',
    },
  ],
  properties: {
    ...keyServerFields,
    alg,
    required_components: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description:
        'Components that the signature must cover: lowercase header names, and @method, @authority, @scheme, @target-uri, @request-target, @path or @query. Behind a proxy that terminates TLS, @scheme and @target-uri have the scheme http.',
      default: ['@method', '@authority', '@path', '@query'],
      examples: [['@method', '@target-uri', 'authorization']],
    },
    require_content_digest: {
      type: 'boolean',
      description:
        'Requires that the signature of a request with a body covers `Content-Digest` (RFC 9530). The body is buffered and compared with the digest.',
      default: true,
    },
    max_age: {
      type: 'duration',
      description:
        'Maximum age of a signature, computed from its parameter `created`, which is required. A recorded request can be replayed until its signature has reached this age, unless require_nonce is set.',
      default: '5m',
    },
    leeway: { type: 'duration', description: 'Clock skew tolerance for `created` and `expires`.', default: '5s' },
    require_nonce: {
      type: 'boolean',
      description:
        'Requires the parameter `nonce`, which each key can use once until its signature has reached max_age: recorded requests cannot be replayed. At most 100,000 nonces are kept in memory; further requests are rejected with on_failure_status.',
      default: false,
    },
    connection_name: {
      type: 'string',
      minLength: 1,
      description:
        'Redis connection for storing nonces that several gateways share. Requires require_nonce. Default: the memory of the gateway, shared by its workers.',
      examples: ['nonces'],
    },
    ...failureFieldsFor(
      'Accepts requests whose nonce cannot be checked because Redis is unreachable. Requires connection_name.',
      'Status of requests that are rejected because their nonce cannot be checked or stored.',
    ),
    tag: tag(
      "Required value of the signature's parameter `tag`. Signatures with other tags are ignored. If empty, any tag is accepted.",
    ),
    key_id_header: {
      type: 'string',
      description:
        'Header that passes the ID of the verified key to backends, replacing a client header of that name. If empty, no header is passed.',
      default: '',
      examples: ['X-Key-Id'],
    },
  },
} as const satisfies Schema;

export const backendSchema = {
  type: 'object',
  title: 'Signatures of backend requests',
  description: 'Signs each request to the backend with an HTTP message signature (RFC 9421).',
  required: ['alg', 'kid', 'jwk_local_path'],
  examples: [
    { alg: 'HS256', kid: 'sample', jwk_local_path: 'samples/tokens/keys.json' },
    { alg: 'HS256', kid: 'sample', jwk_local_path: 'samples/tokens/keys.json', expires_after: '1m', tag: 'orders' },
  ],
  properties: {
    alg,
    kid: { type: 'string', minLength: 1, description: 'ID of the key, sent as `keyid`.', examples: ['sample'] },
    jwk_local_path: {
      type: 'string',
      minLength: 1,
      description: 'File with the JWK set that contains the private or symmetric key. Watched for changes.',
      examples: ['/etc/sluice/signing-keys.json'],
    },
    components: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description:
        'Components that the signature covers, in the form of required_components. Headers that a request does not have are skipped. `Content-Digest` is added for requests with a body.',
      default: ['@method', '@authority', '@path', '@query', 'content-type'],
      examples: [['@method', '@target-uri']],
    },
    expires_after: {
      type: 'duration',
      description: 'Time after which the signature expires, sent as `expires`. 0s omits it.',
      default: '0s',
      examples: ['1m'],
    },
    tag: tag("Value of the signature's parameter `tag`. If empty, the parameter is omitted."),
  },
} as const satisfies Schema;

export type VerifyConfig = Infer<typeof endpointSchema>;
export type SignConfig = Infer<typeof backendSchema>;
