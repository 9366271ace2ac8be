// Runs in a process of its own, as a failing assertion of Node.js ends it: `node --expose-gc run.ts SIDE SEED COUNT [tls]`.
import { stressClient } from './calling.ts';
import { stressServer } from './serving.ts';

const [side, seed, count, tls] = process.argv.slice(2);
const stress = side === 'server' ? stressServer : stressClient;
await stress(Number(seed), Number(count), tls === 'tls');
globalThis.gc!();
process.exit(0);
