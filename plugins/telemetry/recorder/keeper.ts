import { randomUUID } from 'node:crypto';
import { type Call, type Data, Masks, type Outcome, printJson, type Site } from '#contract';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { credentialNames } from './credential-names.ts';
import { Folder } from './folder.ts';
import { printEntry, printHar } from './har.ts';
import type { Recording } from './recording.ts';
import { type Kept, Ring } from './ring.ts';
import type { RecorderConfig } from './schema.ts';

/** Maximum number of recordings of a process that are being printed and stored. */
const MAX_PENDING = 64;

/** Stores a recording after its request has ended. */
export type Keep = (recording: Recording, outcome: Outcome, call: Call) => void;

/** Creates the function that prints recordings, and stores them in the process that owns the configuration. */
export function keeper(site: Site<RecorderConfig>): Keep {
  const warn = limitedWarning(site.log.at('[Recorder]'), site.use('clock'));
  const store = openStore(site, warn);
  let pending = 0;
  return (recording, outcome, call) => {
    if (pending >= MAX_PENDING) {
      warn(() => `a recording was dropped: ${MAX_PENDING} recordings are waiting to be stored`);
      return;
    }
    pending++;
    const stored = print(site, recording, outcome)
      .then((kept) => store(kept as unknown as Data))
      .catch((error: Error) => warn(() => `a recording was dropped: ${error.message}`))
      .finally(() => {
        pending--;
      });
    call.background(stored);
  };
}

/** The recordings of all workers, in one process. */
function openStore(
  site: Site<RecorderConfig>,
  warn: (message: () => string) => void,
): (kept: Data) => Data | Promise<Data> {
  const { max_bytes: maxBytes, max_per_endpoint: maxPerEndpoint } = site.config;
  const write = openFolder(site, warn);
  const version = site.use('version');
  const ask = site.share(
    ['ring'],
    () => new Ring(),
    (ring, question) => {
      if (typeof question === 'number') {
        const latest = ring.latest(question).map(({ entries }) => entries);
        return printHar(latest, version);
      }
      const kept = question as unknown as Kept;
      ring.add(kept, { maxBytes, maxPerEndpoint });
      write?.(kept);
      return null;
    },
  );
  // The cast is safe, because this function is called in the process that owns the ring, where the response is not a
  // promise.
  site.recordings((count) => ask(count) as string);
  return ask;
}

function openFolder(site: Site<RecorderConfig>, warn: (message: () => string) => void): ((kept: Kept) => void) | null {
  const { folder: config } = site.config;
  if (!config || site.role === 'worker') return null;
  const { path, max_files: maxFiles, max_bytes: maxBytes } = config;
  const version = site.use('version');
  const folder = site.keep(
    ['folder', path],
    () => new Folder(path),
    (kept) => kept.close(),
  );
  return ({ entries }) => {
    const written = folder.add(printHar([entries], version), { maxFiles, maxBytes });
    if (!written) warn(() => 'a recording was not written: too many are waiting');
    written?.catch((error: Error) => warn(() => `a recording was not written: ${error.message}`));
  };
}

/** Prints a recording: the entry of the client first, then those of the backends in the order of their calls. */
async function print(site: Site<RecorderConfig>, recording: Recording, { status, completed }: Outcome): Promise<Kept> {
  const { client, calls, data, omittedCalls, endpoint } = recording;
  client.status ??= status;
  if (data) captureData(site, recording);
  const masks = new Masks(site.config.fields, [
    ...credentialNames(site.setting('extra_config')),
    ...credentialNames(endpoint?.extra_config ?? {}),
  ]);
  const name = endpoint ? `${endpoint.method} ${endpoint.endpoint}` : null;
  const link = { id: randomUUID(), endpoint: name };
  const omitted = omittedCalls > 0 ? { omitted_calls: omittedCalls } : {};
  const entries = [await printEntry(client, { ...link, ...omitted }, masks, completed)];
  for (const { exchange, index } of calls) {
    entries.push(await printEntry(exchange, { ...link, backend: index }, masks, completed));
  }
  return { endpoint: name ?? '', entries: entries.join(',\n') };
}

/** Data of the response in the encoding of the endpoint. */
function captureData(site: Site<RecorderConfig>, { client, data, endpoint }: Recording): void {
  const encoding = endpoint && site.encoding(endpoint.output_encoding);
  const body = encoding?.encode?.(data, client.requestHeaders.get('accept')).body ?? printJson(data);
  client.responseBody.add(typeof body === 'string' ? Buffer.from(body) : body);
  client.responseBody.isComplete = true;
}
