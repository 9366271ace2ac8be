import { availableParallelism } from 'node:os';
import type { Flags } from '#contract';
import { ConfigErrors, GatewayError } from '../../contract/internal.ts';
import { type Operations, type RunningAdmin, startGateway, version, type WorkerOptions } from '../../index.ts';
import { sourceVariables } from '../../sources/address.ts';
import type { SourceMirror } from '../../sources/mirror.ts';
import { loadIntoYoungGeneration, serveFromYoungGeneration } from '../../workers/young-generation.ts';
import { parseCount, readArguments, UsageError } from '../arguments.ts';
import { awaitEnd } from '../await-end.ts';
import { allVariables, type Command, type CommandContext } from '../command.ts';
import { configFlag, pluginsFlag } from '../files/accepted-file.ts';
import { requireFile } from '../files/config-file.ts';
import { openMirror, sourceFlags } from '../files/mirrored-source.ts';
import { revisionDirectory, stateDirectory } from '../files/state-directory.ts';
import { showRendering } from '../formats/rendering.ts';
import { printErrors } from '../formats/report.ts';

const flags = {
  config: configFlag,
  plugins: pluginsFlag,
  debug: {
    type: 'boolean',
    short: 'd',
    multiple: true,
    about: 'Serve the debug endpoint /__debug/, regardless of the configuration.',
  },
  port: {
    type: 'string',
    short: 'p',
    value: 'PORT',
    otherwise: 'the port in the file, or 8080',
    about: 'Listening port.',
  },
  watch: { type: 'boolean', default: true, about: 'Do not reload when files change.' },
  ...sourceFlags,
  workers: {
    type: 'string',
    value: 'NUMBER',
    otherwise: 'a single process',
    about:
      'Number of worker processes, or auto for one per processor. Use 1 if no supervisor restarts the gateway: the main process then replaces the worker if it exits or has an internal error.',
  },
  'resume-last-good': {
    type: 'boolean',
    default: false,
    about: 'Start with the last good configuration if the file is not valid.',
  },
  'state-dir': {
    type: 'string',
    value: 'DIRECTORY',
    otherwise: '~/.local/state/sluice',
    about:
      'Directory for the configuration history and the admin token. The files are readable by their owner only (0600). The history contains rendered configurations, including plaintext secrets from the environment and from files.',
  },
  admin: {
    type: 'string',
    value: 'ADDRESS',
    otherwise: '127.0.0.1:9180',
    about: 'Listen address of the admin port: host:port, unix:/path or off.',
  },
  'admin-token-file': {
    type: 'string',
    value: 'FILE',
    otherwise: 'a random token, stored in the state directory',
    about: 'File with one admin token, or a JSON list of {id, sha256, scopes}.',
  },
} as const satisfies Flags;

/** Exit code of a gateway that had more than 10 internal errors within a minute. */
const INTERNAL_ERRORS_EXIT_CODE = 70;

export const run: Command = {
  usage: '[FILE | ADDRESS]',
  flags,
  variables: { ...allVariables, ...sourceVariables },
  summary: 'Serve a configuration.',
  details:
    'Exit codes: 0 after SIGTERM or SIGINT, 1 the gateway cannot start, 70 more than 10 internal errors within a minute.',
  async run(args, context) {
    const { stderr, env, catalogue, startAdmin, sinks, program } = context;
    const { values, positionals } = readArguments(args, flags, true);
    const named = requireFile(values.config, positionals, context);
    const port = parsePort(values.port);
    const directory = stateDirectory(env, values['state-dir']);
    let mirror: SourceMirror | null = null;
    let gateway: Operations | null = null;
    let hasServed = false;
    let admin: RunningAdmin | null = null;
    let endServing = () => {};
    let endLoading = () => {};
    let file = named;
    try {
      mirror = await openMirror(named, directory, values, context);
      if (mirror) file = mirror.file;
      endLoading = loadIntoYoungGeneration(file);
      gateway = await startGateway(catalogue, file, {
        ...(sinks && { sinks }),
        program,
        debug: values.debug !== undefined,
        ...(port !== undefined && { port }),
        ...(values.plugins !== undefined && { pluginFolder: values.plugins }),
        revisionDirectory: revisionDirectory(directory, file),
        // A store can hold a configuration that was never checked, and the gateway may start at any time.
        resumeLastGood: values['resume-last-good'] || mirror !== null,
        ...(mirror && { store: mirror }),
        ...(values.workers !== undefined && { workers: parseWorkers(values.workers, context) }),
      });
      stderr.write(`Sluice ${version} in ${process.cwd()}\n`);
      stderr.write(showRendering(gateway.serving.snapshot.document?.rendering));
      logDefaults(gateway, catalogue.logging ?? 'a logging component');
      const ending = awaitEnd(gateway, context);
      let exitCode = 0;
      gateway.internalErrors.onTooMany = () => {
        exitCode = INTERNAL_ERRORS_EXIT_CODE;
        ending.stop('too many internal errors');
      };
      gateway.internalErrors.watch();
      endLoading();
      endServing = serveFromYoungGeneration();
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
      mirror?.follow(gateway.log.at('[SOURCE]'));
      await ending.ended;
      hasServed = true;
      return exitCode;
    } catch (error) {
      if (error instanceof ConfigErrors) {
        stderr.write('ERROR parsing the configuration file:\n');
        await printErrors(context, file, error.errors);
      } else if (error instanceof GatewayError) {
        stderr.write(`ERROR ${error.message}\n`);
      } else {
        throw error;
      }
      return 1;
    } finally {
      // Waits only for the gateway: open resources must not keep the process alive. The admin port reports that the
      // gateway is draining while requests finish.
      await mirror?.close();
      await gateway?.close();
      await admin?.close();
      endLoading();
      endServing();
      if (hasServed) stderr.write('stopped\n');
    }
  },
};

/** Logs the defaults once, not at every reload. @param component that configures the log. */
function logDefaults({ serving, log }: Operations, component: string): void {
  if (serving.logging.configured) return;
  log.info(
    () => `[SERVICE: Logging] logging at ${log.level} to standard output (configure ${component} to change this)`,
  );
}

function parsePort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError(`not a port: ${text}`);
  return port;
}

/** Parses the number of workers, which run this same program. */
function parseWorkers(text: string, { program }: CommandContext): WorkerOptions {
  const count = text === 'auto' ? availableParallelism() : parseCount(text, 'a number of workers');
  return { count, program, args: ['worker'] };
}
