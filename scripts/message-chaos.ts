// Sends messages through a broker that is killed repeatedly, while the gateway is reloaded: `node
// scripts/message-chaos.ts [--reloads 100] [--restarts 10]`. Needs rabbitmq-server.
import { parseArgs } from 'node:util';
import { runMessages } from './chaos/messages.ts';

const { values } = parseArgs({
  options: { reloads: { type: 'string', default: '100' }, restarts: { type: 'string', default: '10' } },
});
const counts = await runMessages({
  reloads: Number(values.reloads),
  restarts: Number(values.restarts),
  onProgress: (sofar) => console.log(JSON.stringify(sofar)),
});
console.log(counts);
process.exitCode = counts.lost === 0 ? 0 : 1;
