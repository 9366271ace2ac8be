import { once } from 'node:events';
import { createGateway } from '../kernel/sluice.ts';
import { createUpstream } from '../samples/quickstart/upstream.ts';

/** `npm start`: the sample gateway and the upstream it calls, in one process, with what to try. */
const upstream = createUpstream().listen(8081, '127.0.0.1');
await once(upstream, 'listening');
const gateway = await createGateway('samples/quickstart/gateway.json');
const { port } = await gateway.listen();
const base = `http://localhost:${port}`;

console.log(`
Sluice serves samples/quickstart/gateway.json at ${base}. Try:

  curl -i ${base}/home/1                 three backends, merged
  curl -i ${base}/users/1                one backend, filtered
  curl -i ${base}/users/1/company        a second call with a value of the first
  curl -i ${base}/raw/1                  the backend's answer, untouched
  curl -i ${base}/orders -d '{"article":"pen","amount":2}'
  curl -i ${base}/orders -d '{"article":"pen","amount":0}'     refused before any backend is called

Press Ctrl-C to stop.
`);

let stopping = false;
const stop = async (): Promise<void> => {
  if (stopping) process.exit(1);
  stopping = true;
  await gateway.close();
  upstream.close();
  upstream.closeAllConnections();
};
process.on('SIGINT', stop);
process.on('SIGTERM', stop);
