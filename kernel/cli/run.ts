import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { ConfigErrors, GatewayError } from '#contract';
import type { RunningAdmin } from '../index.ts';
import { type Gateway, startGateway, version, type WorkerOptions } from '../index.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';
import { parseCount } from './parse-number.ts';
import { printErrors } from './report.ts';
import { revisionDirectory, stateDirectory } from './state-directory.ts';

const options = {
  config: { type: 'string', short: 'c' },
  debug: { type: 'boolean', short: 'd', multiple: true },
  port: { type: 'string', short: 'p' },
  watch: { type: 'boolean', default: true },
  workers: { type: 'string' },
  'resume-last-good': { type: 'boolean', default: false },
  'state-dir': { type: 'string' },
  admin: { type: 'string' },
  'admin-token-file': { type: 'string' },
} as const;

export const run: Command = {
  usage:
    '-c FILE [-d] [-p PORT] [--no-watch] [--workers NUMBER|auto] [--resume-last-good] [--state-dir DIR] ' +
    '[--admin ADDRESS|off] [--admin-token-file FILE]',
  summary: 'Serve a configuration.',
  async run(args, context) {
    const { stderr, env, catalogue, startAdmin } = context;
    const { values } = parseArgs({ args, allowNegative: true, options });
    if (values.config === undefined) {
      stderr.write('please give the configuration file: -c FILE\n');
      return 1;
    }
    const port = parsePort(values.port);
    const directory = stateDirectory(env, values['state-dir']);
    let gateway: Gateway | null = null;
    let admin: RunningAdmin | null = null;
    try {
      gateway = await startGateway(catalogue, values.config, {
        debug: values.debug !== undefined,
        ...(port > 0 && { port }),
        revisionDirectory: revisionDirectory(directory, values.config),
        resumeLastGood: values['resume-last-good'],
        ...(values.workers !== undefined && { workers: parseWorkers(values.workers, context) }),
      });
      stderr.write(`Sluice ${version} in ${process.cwd()}\n`);
      const ending = awaitEnd(gateway, context);
      await gateway.listen();
      const opened = startAdmin?.(gateway, {
        listen: values.admin || env.GATEWAY_ADMIN_LISTEN || undefined,
        token: env.GATEWAY_ADMIN_TOKEN || undefined,
        tokenFile: values['admin-token-file'],
        stateDirectory: directory,
        stop: () => ending.stop('stop'),
      });
      admin = (await opened) ?? null;
      if (values.watch) await gateway.watch();
      await ending.ended;
      return 0;
    } catch (error) {
      if (error instanceof ConfigErrors) {
        stderr.write('ERROR parsing the configuration file:\n');
        await printErrors(context, values.config, error.errors);
      } else if (error instanceof GatewayError) {
        stderr.write(`ERROR ${error.message}\n`);
      } else {
        throw error;
      }
      return 1;
    } finally {
      // What they hold must not keep the process alive. While requests end, the admin port tells that it is so.
      await gateway?.close();
      await admin?.close();
    }
  },
};

function parsePort(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`not a port: ${text}`);
  return port;
}

/** Workers run this same program. */
function parseWorkers(text: string, { program }: CommandContext): WorkerOptions {
  const count = text === 'auto' ? availableParallelism() : parseCount(text, 'a number of workers');
  return { count, program, args: ['worker'] };
}

/**
 * Waits for SIGTERM, SIGINT or `stop`; a second signal ends the process at once. SIGHUP reads the configuration again.
 */
function awaitEnd(
  gateway: Gateway,
  { stderr, signals, exit }: CommandContext,
): { readonly ended: Promise<void>; stop(reason: string): void } {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let stopping = false;
  const stop = (reason: string): void => {
    if (stopping) return;
    stopping = true;
    stderr.write(`${reason}: waiting for ${gateway.status.calls} requests in flight\n`);
    resolve();
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) return exit(1);
    stop(signal);
  };
  // A refusal is told in the log; the old configuration serves on.
  signals.on('SIGHUP', () => gateway.apply({ trigger: 'signal' }).catch(() => {}));
  signals.on('SIGTERM', onSignal);
  signals.on('SIGINT', onSignal);
  return { ended, stop };
}
