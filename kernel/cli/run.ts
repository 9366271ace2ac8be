import { parseArgs } from 'node:util';
import { ConfigErrors, GatewayError } from '#contract';
import { type Gateway, startGateway, version } from '../index.ts';
import { type Command, UsageError } from './command.ts';
import { printErrors } from './report.ts';

export const run: Command = {
  usage: '-c FILE [-d] [-p PORT] [--no-watch]',
  summary: 'Serve a configuration.',
  async run(args, catalogue) {
    const { values } = parseArgs({
      args,
      allowNegative: true,
      options: {
        config: { type: 'string', short: 'c' },
        debug: { type: 'boolean', short: 'd', multiple: true },
        port: { type: 'string', short: 'p' },
        watch: { type: 'boolean', default: true },
      },
    });
    if (values.config === undefined) {
      process.stderr.write('please give the configuration file: -c FILE\n');
      return 1;
    }
    const port = parsePort(values.port);
    let gateway: Gateway | null = null;
    try {
      gateway = await startGateway(catalogue, values.config, {
        debug: values.debug !== undefined,
        ...(port > 0 && { port }),
      });
      process.stderr.write(`Sluice ${version} in ${process.cwd()}\n`);
      const ended = terminated(gateway);
      await gateway.listen();
      if (values.watch) await gateway.watch();
      await ended;
      return 0;
    } catch (error) {
      // What it holds must not keep the process alive.
      await gateway?.close();
      if (error instanceof ConfigErrors) {
        process.stderr.write('ERROR parsing the configuration file:\n');
        await printErrors(process.stderr, values.config, error.errors);
      } else if (error instanceof GatewayError) {
        process.stderr.write(`ERROR ${error.message}\n`);
      } else {
        throw error;
      }
      return 1;
    }
  },
};

function parsePort(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`not a port: ${text}`);
  return port;
}

/**
 * Waits for SIGTERM or SIGINT and closes the gateway; a second signal ends the process at once. SIGHUP reads the
 * configuration again.
 */
function terminated(gateway: Gateway): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(1);
      stopping = true;
      process.stderr.write(`${signal}: waiting for ${gateway.status.calls} requests in flight\n`);
      gateway.close().then(resolve);
    };
    // A refusal is told in the log; the old configuration serves on.
    process.on('SIGHUP', () => gateway.reload().catch(() => {}));
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}
