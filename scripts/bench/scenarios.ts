import { componentScenarios } from './components.ts';
import { large, members, small } from './payloads.ts';
import type { Scenario } from './scenario.ts';

const one = [{ url_pattern: '/small' }];
const noOp = { output_encoding: 'no-op', backend: [{ url_pattern: '/small', encoding: 'no-op' }] };

export const scenarios: readonly Scenario[] = [
  { name: 'no-op', path: '/bench/no-op', endpoint: noOp, expected: small, untouched: true },
  { name: 'json', path: '/bench/json', endpoint: { backend: one }, expected: small },
  {
    name: 'filter',
    path: '/bench/filter',
    endpoint: {
      backend: [
        {
          url_pattern: '/small',
          allow: ['id', 'name', 'email', 'address.city', 'address.position', 'tags'],
          mapping: { name: 'full_name', email: 'contact' },
          group: 'user',
        },
      ],
    },
    expected: {
      user: {
        id: small.id,
        full_name: small.name,
        contact: small.email,
        address: { city: small.address.city, position: small.address.position },
        tags: small.tags,
      },
    },
  },
  {
    name: 'merge',
    path: '/bench/merge',
    endpoint: { backend: [{ url_pattern: '/part/a' }, { url_pattern: '/part/b' }, { url_pattern: '/part/c' }] },
    expected: { ...members.a, ...members.b, ...members.c },
  },
  { name: 'json-64k', path: '/bench/json-64k', endpoint: { backend: [{ url_pattern: '/large' }] }, expected: large },
  {
    name: 'access-log',
    path: '/bench/access-log',
    endpoint: noOp,
    expected: small,
    untouched: true,
    accessLog: true,
    requests: 200_000,
  },
  ...componentScenarios,
];
