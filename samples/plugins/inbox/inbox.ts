import { mkdir, readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { atAgent, definePlugin } from 'sluice/plugin';

/** Maximum file size, in bytes; larger files stay in place. */
const MAX_BYTES = 1024 * 1024;

export const plugin = definePlugin({
  name: 'acme/inbox',
  contract: 1,
  description: 'Sends every JSON file that is put into a folder through the pipe of its agent, then moves it to done/.',
  places: [
    atAgent(
      {
        type: 'object',
        examples: [{ folder: './inbox', every: '1s' }],
        required: ['folder'],
        properties: {
          folder: { type: 'string', minLength: 1, description: 'Path, relative to the working directory.' },
          every: { type: 'duration', description: 'Time between two looks at it.', default: '1s', examples: ['1s'] },
        },
      },
      ({ config: { folder, every }, start, run, log, health }) => {
        const counts = { done: 0, failed: 0 };
        health('inbox', () => ({ ...counts }));

        /** A file is processed once the pipe has finished; after a failure it stays and is retried. */
        const send = async (name: string, signal: AbortSignal): Promise<void> => {
          const file = join(folder, name);
          if ((await stat(file)).size > MAX_BYTES) throw new Error(`longer than ${MAX_BYTES} bytes`);
          const reply = await run({ body: await readFile(file) }, signal);
          if (reply.errors[0]) throw reply.errors[0];
          await rename(file, join(folder, 'done', name));
        };

        // Runs in one process of the gateway, and only while the configuration serves: the signal ends it.
        start(async (signal) => {
          await mkdir(join(folder, 'done'), { recursive: true });
          while (!signal.aborted) {
            for (const name of (await readdir(folder)).filter((entry) => entry.endsWith('.json')).sort()) {
              if (signal.aborted) break;
              try {
                await send(name, signal);
                counts.done++;
              } catch (error) {
                counts.failed++;
                log.warning(`${name}: ${(error as Error).message}`);
              }
            }
            await pause(every, undefined, { signal }).catch(() => {});
          }
        });
      },
    ),
  ],
});
