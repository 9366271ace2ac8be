import type { AuditRule } from '#contract';
import { has, lacking, using } from './find.ts';

/** Audit rules of chapter 1: authentication. */
export const authenticationRules: readonly AuditRule[] = [
  {
    id: '1.1.1',
    severity: 'HIGH',
    message: 'Replace basic authentication by tokens: its passwords travel with every request.',
    recommends: ['auth/validator'],
    find: using(['auth/basic']),
  },
  {
    id: '1.1.2',
    severity: 'MEDIUM',
    message: 'Prefer tokens that expire to API keys, which do not.',
    recommends: ['auth/validator'],
    find: using(['auth/api-keys'], ['service']),
  },
  {
    id: '1.2.1',
    severity: 'HIGH',
    message: 'Validate tokens with auth/validator on the endpoints that are not public.',
    recommends: ['auth/validator'],
    find: lacking(
      '/endpoints',
      has(['auth/validator', 'auth/introspection', 'auth/oidc', 'auth/external', 'auth/http-signatures'], ['endpoint']),
    ),
  },
];
