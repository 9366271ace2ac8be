import { join } from 'node:path';
import { outputOf, requireProgram } from '../programs.ts';
import { changes, paths } from '../work.ts';
import type { Peer } from './peer.ts';

const SOURCE = join(import.meta.dirname, '../go-floor');

/** The Go equivalent of floor.ts: hand-written, with the standard library alone. */
export const goFloor: Peer = {
  name: 'go-floor',
  scenarios: Object.keys(paths),
  cannot: '',
  async install(folder) {
    const go = requireProgram('go', 'install Go');
    const path = join(folder, 'go-floor');
    await outputOf(go, ['build', '-C', SOURCE, '-buildvcs=false', '-o', path, '.'], { CGO_ENABLED: '0' });
    return { path, version: /go([\d.]+)/.exec(await outputOf(go, ['version']))?.[1] ?? '' };
  },
  arguments: ({ scenario, port, upstream }) => [
    workOf(scenario),
    `127.0.0.1:${port}`,
    ...paths[scenario]!.map((path) => upstream + path),
  ],
};

function workOf(scenario: string): string {
  if (scenario === 'filter') return 'filter';
  return changes[scenario] || paths[scenario]!.length > 1 ? 'json' : 'pass';
}
