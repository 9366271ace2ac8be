import { deepEqual } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { sluice } from '../kernel/cli/command.ts';
import { checkParts, followGuide } from './guide.ts';

/** Guides that need only the example upstream. Guides that need other servers are run by the tests of their samples. */
const guides = [
  'access',
  'attack',
  'caching',
  'conditional',
  'conditions',
  'cors',
  'documents',
  'filters',
  'flexible-config',
  'go-plugins',
  'graphql',
  'hosts',
  'identity',
  'lambda',
  'logs',
  'mutual-tls',
  'performance',
  'policies',
  'prompts',
  'quickstart',
  'reshaping',
  'rewriting',
  'scripts',
  'soap',
  'streaming',
  'telemetry',
  'testing',
  'tokens',
  'tools',
  'traffic',
  'troubleshooting',
  'website',
  'workflow',
];

describe('the guides of the samples', function () {
  this.timeout(60_000);
  for (const file of [
    'canary/gateway',
    'dashboard/gateway',
    'mutual-tls/gateway',
    'mutual-tls/backend',
    'performance/gateway',
    'policies/gateway',
    'streaming/gateway',
    'troubleshooting/gateway',
  ]) {
    it(`include ${file}.json, which passes check without warnings`, async () => {
      const { code, err } = await sluice('check', '-c', `samples/${file}.json`);
      deepEqual([code, err], [0, '']);
    });
  }

  it('quote their configurations correctly', () => {
    for (const name of readdirSync('samples')) if (name !== 'README.md') checkParts(name);
  });

  for (const name of guides)
    it(`include ${name}, whose commands print the output that it shows`, () => followGuide(name));
});
