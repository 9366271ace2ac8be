import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { ConfigError } from '#contract';
import {
  addressesOf,
  CanonicalSession,
  type CompatPlan,
  type CompatResult,
  compareGateways,
  OtherGateway,
  OtherGatewayError,
  planCompat,
  ServedMocks,
} from '../../cases/index.ts';
import { ConfigErrors, fileErrorReason } from '../../contract/internal.ts';
import { positionsIn, servedBy } from '../../inspect/index.ts';
import { oneOf, parseCount, readArguments, UsageError } from '../arguments.ts';
import { type Command, type CommandContext, configVariables } from '../command.ts';
import { readAccepted } from '../files/accepted-differences.ts';
import { requireFile } from '../files/config-file.ts';
import { printErrors } from '../formats/report.ts';
import { Interruption } from '../interruption.ts';
import { withTools } from '../tools.ts';
import { type CompatSettings, type CompatValues, compatFlags, readSettings } from './compat-flags.ts';
import { compatFormats } from './compat-formats.ts';
import { parseAddress } from './run-once.ts';

/** Exit code for usage errors, and if the other gateway does not respond. */
const UNREACHABLE = 2;

/** Exit code after SIGINT or SIGTERM. */
const INTERRUPTED = 130;

/** Largest seed that is chosen, short enough to type. */
const MAX_SEED = 1_000_000;

interface Settings extends CompatSettings {
  readonly file: string;
  readonly seed: number;
}

/** Compares a configuration with another gateway over the same mocked backends. */
export const compat: Command = {
  usage: '[FILE] --against URL',
  flags: compatFlags,
  variables: configVariables,
  summary: 'Compare a configuration with another gateway, over the same mocked backends.',
  details:
    'Without --against, only the configuration for the other gateway is written. Date, Server, Via, tracing headers and headers of the connection are not compared. Exit codes: 0 no differences other than intended and accepted ones, 1 differences or a file that is not valid, 2 usage error or the other gateway does not respond.',
  async run(args, context) {
    const { values, positionals } = readArguments(args, compatFlags, true);
    const against = values.against === undefined ? null : parseAddress(values.against);
    if (!against && values['write-config'] === undefined) throw new UsageError('--against URL is required');
    const print = compatFormats.get(oneOf('format', values.format, [...compatFormats.keys()]))!;
    const file = requireFile(values.config, positionals, context);
    const accepted = values.accept === undefined ? new Set<string>() : readAccepted(values.accept);
    const seed = values.seed === undefined ? randomInt(1, MAX_SEED) : parseCount(values.seed, 'a seed');
    const settings: Settings = { file, seed, ...readSettings(values) };
    const interruption = new Interruption(context);
    try {
      const plan = await prepare(settings, values, context);
      if (!plan) return 1;
      if (plan.cases.length === 0)
        throw new UsageError('nothing to compare: no endpoint has backends that can be mocked');
      if (!against) return writeOnly(plan, settings, values, context);
      const result = await run(plan, { ...settings, against }, values, context, interruption.signal);
      const changes = result.changes.filter(({ key }) => !accepted.has(key));
      const known = result.changes.filter(({ key }) => accepted.has(key));
      const { omitted, positions } = plan;
      context.stdout.write(print({ ...result, changes, accepted: known, omitted, positions, file, seed }));
      return changes.length + result.hidden === 0 ? 0 : 1;
    } catch (error) {
      return await failed(error, settings, interruption.signal, context);
    } finally {
      interruption.end();
    }
  },
};

/** Reads the configuration and prepares the cases. @returns null for an invalid configuration, whose errors are printed. */
function prepare(
  { file, seed, headers }: Settings,
  values: CompatValues,
  context: CommandContext,
): Promise<CompatPlan | null> {
  return withTools({ ...context, plugins: values.plugins }, async (tools) => {
    const { document, config, compiled, registry, origin, errors } = await tools.examineFile(file, true);
    if (errors.length > 0) {
      context.stderr.write('ERROR parsing the configuration file:\n');
      await printErrors(context, file, errors);
      return null;
    }
    const plan = await planCompat({
      data: document.data as never,
      served: await servedBy(config, compiled),
      registry,
      origin,
      position: positionsIn(document),
      sources: { tests: values.tests ?? [], recordings: values.har ?? [], documents: values.openapi ?? [] },
      seed,
    });
    const cases = plan.cases.map((each) => ({
      ...each,
      request: { ...each.request, headers: { ...each.request.headers, ...headers } },
    }));
    return { ...plan, cases };
  });
}

async function run(
  plan: CompatPlan,
  { against, binding, waitMs, timeoutMs }: Settings & { readonly against: URL },
  values: CompatValues,
  context: CommandContext,
  signal: AbortSignal,
): Promise<CompatResult> {
  const { origins, documents, source, cases } = plan;
  const mocks = await ServedMocks.open(origins.all, binding, new CanonicalSession(documents, origins));
  try {
    const { stderr } = context;
    const written = values['write-config'];
    if (written !== undefined) {
      writeConfig(written, plan.other(mocks.addresses, against));
      stderr.write(`${written} is the configuration for ${against.origin}\n`);
    }
    for (const [origin, address] of mocks.addresses) stderr.write(`${origin} is mocked at ${address}\n`);
    const other = new OtherGateway(against, timeoutMs, signal);
    await other.start(waitMs);
    return await compareGateways({
      catalogue: context.catalogue,
      source,
      cases,
      documents,
      origins,
      mocks,
      other,
      host: against.host,
      ignored: (values['ignore-header'] ?? []).map((name) => name.toLowerCase()),
      timeoutMs,
      signal,
      ...(values.plugins !== undefined && { pluginFolder: values.plugins }),
    });
  } finally {
    await mocks.close();
  }
}

/** Writes the configuration for a gateway that is started before the comparison. @returns the exit code. */
function writeOnly(
  { documents, origins, other }: CompatPlan,
  { binding }: Settings,
  values: CompatValues,
  { stderr }: CommandContext,
): number {
  if (binding.port === 0) throw new UsageError('--backends HOST:PORT with a port is required without --against');
  if (documents.length > 0) {
    throw new UsageError(
      '--against URL is required: the configuration validates tokens, whose keys differ in each run',
    );
  }
  const file = values['write-config']!;
  writeConfig(file, other(addressesOf(origins.all, binding), null));
  stderr.write(`${file} is the configuration for the other gateway\n`);
  return 0;
}

function writeConfig(file: string, data: unknown): void {
  try {
    writeFileSync(file, `${JSON.stringify(data, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(`cannot write ${file}: ${fileErrorReason(error)}`);
  }
}

/** Prints the reason why a comparison ended. @returns the exit code. */
async function failed(
  error: unknown,
  { file }: Settings,
  signal: AbortSignal,
  context: CommandContext,
): Promise<number> {
  if (signal.aborted) {
    context.stderr.write('interrupted\n');
    return INTERRUPTED;
  }
  if (error instanceof OtherGatewayError) {
    context.stderr.write(`ERROR ${error.message}\n`);
    return UNREACHABLE;
  }
  if (error instanceof ConfigError) {
    context.stderr.write(`ERROR ${error.message}\n`);
    return 1;
  }
  if (!(error instanceof ConfigErrors)) throw error;
  await printErrors(context, file, error.errors);
  return 1;
}
