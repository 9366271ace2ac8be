import { serveQuickstart } from './quickstart/serve.ts';

/** Runs the sample gateway and its upstream in one process, and prints requests to try: `npm start`. */
const file = 'samples/quickstart/gateway.json';

let stop: () => Promise<void>;
try {
  const { port, taken, close } = await serveQuickstart(file);
  stop = close;
  const base = `http://localhost:${port}`;
  console.log(`${taken === null ? '' : `\nPort ${taken} is in use, so this uses port ${port}.`}
Sluice serves ${file} at ${base}. Try:

  curl -i ${base}/home/1                 three backends, merged
  curl -i ${base}/users/1                one backend, filtered
  curl -i ${base}/users/1/company        a second call with a value of the first
  curl -i ${base}/raw/1                  the backend's answer, untouched
  curl -i ${base}/orders -d '{"article":"pen","amount":2}'
  curl -i ${base}/orders -d '{"article":"pen","amount":0}'     refused before any backend is called

Edit ${file} and call again: a saved change is live at once, and a mistake is
reported here while the last good configuration keeps serving.

Press Ctrl-C to stop.
`);
} catch (error) {
  console.error(`ERROR ${(error as Error).message}`);
  process.exit(1);
}

let stopping = false;
const end = async (): Promise<void> => {
  if (stopping) process.exit(1);
  stopping = true;
  await stop();
};
process.on('SIGINT', end);
process.on('SIGTERM', end);
