import type { AdminScope } from '#contract';
import { hashOfToken } from '../../admin/tokens/tokens.ts';
import { adminScopes } from '../../kernel/contract/internal.ts';

/** Value of every secret in the configuration. */
export const SECRET = 'PLANTED-SECRET';
/** Pointer of a value that is secret only because of the name next to it. */
export const HEADER = '/endpoints/1/backend/0/extra_config/modifier~1martian/header.Modifier/value';

/** Token scopes by caller, where `write` includes `check`; `none` sends no token, `wrong` an unknown one. */
export const callers: Readonly<Record<string, readonly AdminScope[]>> = {
  ...Object.fromEntries(adminScopes.map((scope) => [scope, [scope]])),
  reader: ['read', 'check', 'ops'],
  write: ['write', 'check'],
  writer: ['read', 'check', 'write'],
  all: adminScopes,
  none: [],
  wrong: [],
};

const backend = { host: ['http://127.0.0.1:9'], url_pattern: '/' };
/** A configuration with secrets, and a token for each caller. */
export const config = {
  version: 3,
  extra_config: {
    'admin/api': {
      tokens: Object.entries(callers)
        .filter(([, scopes]) => scopes.length > 0)
        .map(([id, scopes]) => ({ id, sha256: hashOfToken(id), scopes })),
    },
    'auth/api-keys': { keys: [{ key: SECRET, roles: ['a'] }] },
  },
  endpoints: [
    {
      endpoint: '/a',
      backend: [
        {
          ...backend,
          extra_config: {
            'auth/client-credentials': { client_id: 'c', client_secret: SECRET, token_url: 'http://127.0.0.1:9/t' },
          },
        },
      ],
    },
    {
      endpoint: '/b/{id}',
      backend: [
        {
          ...backend,
          extra_config: {
            'modifier/martian': {
              'header.Modifier': { scope: ['request'], name: 'Authorization', value: `Basic ${SECRET}` },
            },
          },
        },
      ],
    },
  ],
};
