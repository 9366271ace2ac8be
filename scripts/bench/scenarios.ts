import { componentScenarios } from './components.ts';
import { large, members, small } from './payloads.ts';
import type { Routes } from './routes.ts';
import type { Scenario } from './scenario.ts';

const one = [{ url_pattern: '/small' }];
const noOp = { output_encoding: 'no-op', backend: [{ url_pattern: '/small', encoding: 'no-op' }] };

const echo = {
  method: 'POST',
  output_encoding: 'no-op',
  timeout: '1m',
  backend: [{ url_pattern: '/echo', encoding: 'no-op' }],
};

const asked = ['first', 'last', 'random', 'none'] as const;

function routes(count: number, which: Routes['asked']): Scenario {
  const missed = which === 'none' && { status: 404 };
  return {
    name: `routes-${count}-${which}`,
    path: '/',
    endpoint: { backend: one },
    expected: small,
    routes: { count, asked: which },
    ...missed,
  };
}

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
  {
    name: 'static',
    path: '/__debug/bench',
    endpoint: { backend: one },
    settings: { debug_endpoint: true },
    expected: { message: 'pong' },
  },
  { name: 'not-found', path: '/bench/none', endpoint: { backend: one }, status: 404, expected: null },
  { name: 'echo-1m', path: '/bench/echo-1m', endpoint: echo, expected: null, echoes: 2 ** 20 },
  {
    name: 'echo-100m',
    path: '/bench/echo-100m',
    endpoint: echo,
    expected: null,
    echoes: 100 * 2 ** 20,
    connections: 4,
  },
  { name: 'workers', path: '/bench/workers', endpoint: { backend: one }, expected: small, workers: 2 },
  ...[1000, 10_000].flatMap((count) => asked.map((which) => routes(count, which))),
  ...componentScenarios,
];
