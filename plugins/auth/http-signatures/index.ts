import { atBackend, atEndpoint, definePlugin, httpSigners } from '#contract';
import { keyAggregators } from '../../clients/keys/key-aggregator.ts';
import { redisConnections } from '../../clients/redis/port.ts';
import { personalHeaders } from '../../shared/http-headers/personal.ts';
import { backendSchema, endpointSchema } from './schema.ts';
import { signing } from './sign.ts';
import { verifying } from './verify.ts';

/**
 * Verifies the signatures of client requests, and signs backend requests (RFC 9421). Requests without a valid signature
 * are rejected with 401.
 *
 * Configuration faults: `HTTP_SIGNATURES_COMPONENT`, `HTTP_SIGNATURES_HEADER`, `HTTP_SIGNATURES_KEY`, `HTTP_SIGNATURES_NONCE`,
 * and those of
 * `checkKeyFields` and `openKeys`.
 */
export const plugin = definePlugin({
  name: 'auth/http-signatures',
  description: 'Verifies HTTP message signatures of clients, and signs backend requests (RFC 9421).',
  guards: true,
  leaves: ['data'],
  offers: [httpSigners, personalHeaders],
  takes: [httpSigners, keyAggregators, redisConnections],
  places: [atEndpoint(endpointSchema, verifying), atBackend(backendSchema, signing)],
});
