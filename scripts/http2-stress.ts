// Ends HTTP/2 connections in every state, while garbage is collected: `node scripts/http2-stress.ts [--connections 20000]
// [--seed 1]`. Each side of the gateway runs in processes of its own, as a failing assertion of Node.js ends the process.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** Connections of one process. */
const PART = 2_000;

const { values } = parseArgs({
  options: { connections: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});
const program = join(import.meta.dirname, 'http2-stress/run.ts');

for (const side of ['server', 'client']) {
  for (const transport of ['tcp', 'tls']) {
    let done = 0;
    for (let seed = Number(values.seed); done < Number(values.connections); seed++) {
      const args = ['--expose-gc', program, side, String(seed), String(PART), transport];
      const { status, signal } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      done += PART;
      if (status === 0) continue;
      console.error(`${side} over ${transport}: seed ${seed} ended with ${signal ?? `code ${status}`}`);
      process.exitCode = 1;
    }
    console.log(`${side} over ${transport}: ${done} connections`);
  }
}
