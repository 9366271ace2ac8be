import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { writeFiles } from './files.ts';
import { builtIn } from './generator.ts';
import { type Lane, sliceOf } from './lane.ts';
import type { Plan } from './measure.ts';
import { askUsage, usageOf } from './meter.ts';
import { FEW, routed } from './routes.ts';
import { type Attached, configWith, endpointOf, type Scenario } from './scenario.ts';
import { launch, type Setup, type Subject } from './subject.ts';

/** The gateways that a benchmark puts under load in turns, and a function that closes them. */
export interface Lanes {
  readonly lanes: readonly Lane[];
  close(): Promise<void>;
}

const GATEWAYS_FILE = join(import.meta.dirname, 'gateways.ts');

/** Opens each subject in a separate process. @throws Error when one does not start. */
export async function openApart(scenario: Scenario, subjects: readonly Subject[], plan: Plan): Promise<Lanes> {
  const lanes: Lane[] = [];
  const stops: (() => Promise<void>)[] = [];
  const close = async () => void (await Promise.all(stops.map((stop) => stop())));
  try {
    for (const [index, subject] of subjects.entries()) {
      const { lane, stop } = await openOne(scenario, subject, index, plan);
      stops.push(stop);
      lanes.push(lane);
    }
    return { lanes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens a subject in a separate process. @param index unique within the folder. @throws Error when it does not start. */
export async function openOne(scenario: Scenario, subject: Subject, index: number, plan: Plan) {
  const { generator, folder } = plan;
  const logFile = join(folder, `${index}-${scenario.name}.log`);
  const setup = await setUp(subject, scenario, {}, index, plan);
  const { child } = await launch(subject, setup, setup.path, logFile, undefined, scenario.status, scenario.echoes);
  const origin = `http://127.0.0.1:${setup.port}`;
  const order = orderOf(origin, { ...scenario, path: setup.path }, plan, setup.paths);
  const countLines = async (requests: number) => {
    await child.stop();
    const lines = readFileSync(logFile).reduce((sum, byte) => (byte === 0x0a ? sum + 1 : sum), 0);
    if (lines < requests) throw new Error(`${subject.name}: ${lines} lines of log for ${requests} requests`);
  };
  const lane: Lane = {
    ...{ name: subject.name, origin, scenario: { ...scenario, path: setup.path }, headers: undefined },
    load: (seconds, rate) =>
      sliceOf(
        async () => usageOf(child),
        () => generator.run({ ...order, seconds, rate }),
      ),
    finish: subject.logsAccess ? countLines : async () => {},
  };
  return { lane, stop: child.stop };
}

/** Opens the gateway without and with the components, in one process. @throws Error when it does not start. */
export async function openTogether(scenario: Scenario, subjects: readonly Subject[], plan: Plan): Promise<Lanes> {
  const { connections, folder } = plan;
  const attached = scenario.attach!(folder);
  const { headers } = attached;
  const headersFile = headers && join(folder, `${scenario.name}-headers.json`);
  if (headersFile) writeFileSync(headersFile, JSON.stringify(headers));
  const setups: Prepared[] = [];
  for (const subject of subjects) setups.push(await setUp(subject, scenario, attached, setups.length, plan));
  const files = setups.map(({ configFile }) => configFile);
  const both: Subject = { name: subjects[1]!.name, script: () => [GATEWAYS_FILE, ...files], ipc: true };
  const logFile = join(folder, `${scenario.name}.log`);
  const { child } = await launch(both, setups.at(-1)!, scenario.path, logFile, headers?.[0]);
  const generator = builtIn(folder);
  const lanes = setups.map(({ port }, index): Lane => {
    const origin = `http://127.0.0.1:${port}`;
    const order = { url: origin + scenario.path, connections, headersFile };
    return {
      ...{ name: subjects[index]!.name, origin, scenario, headers: headers?.[0] },
      load: (seconds) =>
        sliceOf(
          () => askUsage(child),
          () => generator.run({ ...order, seconds }),
        ),
      finish: async () => {},
    };
  });
  const close = async () => void (await Promise.all([child.stop(), generator.close()]));
  return { lanes, close };
}

/** Settings of the load, without its duration. */
export function orderOf(
  origin: string,
  { path, status, echoes, connections = Number.POSITIVE_INFINITY }: Scenario,
  plan: Pick<Plan, 'connections'>,
  paths?: readonly string[],
) {
  const order = { url: origin + path, connections: Math.min(plan.connections, connections) };
  return { ...order, paths, status, bodyLength: echoes };
}

/** A program's configuration, with the path of a readiness check. */
interface Prepared extends Setup {
  readonly path: string;
  /** Paths to request in turn instead of `path`; undefined to request `path` only. */
  readonly paths: readonly string[] | undefined;
}

/** Writes the gateway's configuration and the subject's own. */
async function setUp(
  subject: Subject,
  scenario: Scenario,
  attached: Attached,
  index: number,
  { upstream, folder }: Plan,
): Promise<Prepared> {
  const port = await freePort();
  const configFile = join(folder, `${index}-${scenario.name}.json`);
  const components = subject.bare ? {} : attached;
  const routes = scenario.routes && routed(subject.few ? { ...scenario.routes, count: FEW } : scenario.routes);
  const endpoints = routes?.endpoints ?? [endpointOf(scenario, components)];
  const { settings } = scenario;
  const config = configWith(endpoints, upstream, port, subject.logsAccess, components.service, settings);
  const modules = components.modules && { plugin: { folder: components.modules, pattern: '.js' } };
  writeFileSync(configFile, JSON.stringify({ ...config, ...modules }));
  const setup = {
    port,
    upstream,
    scenario: scenario.name,
    configFile,
    folder: join(folder, `${index}-${scenario.name}`),
    path: routes?.paths[0] ?? scenario.path,
    paths: routes?.paths,
  };
  writeFiles(setup.folder, subject.files?.(setup) ?? {});
  return setup;
}
