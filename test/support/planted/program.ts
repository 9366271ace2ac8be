import { request } from 'node:http';
import { within } from '../../../plugins/shared/calls/during.ts';
import { until } from '../conditions.ts';
import { partsOf } from '../gateway.ts';
import { arm, disarm, type Kind, ran } from './plant.ts';
import type { World } from './world.ts';

/**
 * Runs a test world, and makes each handler that the gateway registered fail, one after another and in both ways. Prints the results as JSON.
 */
export interface Outcome {
  readonly site: string;
  readonly kind: Kind;
  /** Places that counted an error. */
  readonly places: readonly string[];
  /** The log line; null if nothing was logged. */
  readonly logged: string | null;
  /** Status of a request on another connection. */
  readonly other: number;
  /** Error of the step when it is repeated after the fault; null if the step works. */
  readonly broken: string | null;
}

export interface Report {
  readonly outcomes: readonly Outcome[];
  /** Places whose handlers ran once, but not again. */
  readonly unreached: readonly string[];
  /** Status of the request that was pending during the whole test. */
  readonly held: number;
}

const lines: string[] = [];
const { makeWorld } = (await import(`./${process.argv[2]}-world.ts`)) as {
  makeWorld(write: (line: string) => void): Promise<World>;
};
const world = await makeWorld((line) => lines.push(line));
const { internalErrors } = partsOf(world.gateway);
internalErrors.watch();

function get(path: string): Promise<number> {
  return new Promise((resolve) => {
    request(`${world.url}${path}`, { agent: false, ...(path === '/held' ? {} : { timeout: 10_000 }) }, (response) => {
      response.resume().once('close', () => resolve(response.complete ? response.statusCode! : 0));
    })
      .on('error', () => resolve(0))
      .on('timeout', () => resolve(-1))
      .end();
  });
}

/** Tests whether a step works, and repeats it for 15 seconds until it does. @returns the last error; null if it works. */
async function problem(step: () => Promise<unknown>): Promise<string | null> {
  const end = performance.now() + 15_000;
  let error: string | null = null;
  await until(async () => {
    error = await within(5_000, step()).then(() => null, String);
    return error === null || performance.now() > end;
  });
  return error;
}

const { rooms = [''] } = world;
const isOfWorld = (site: string): boolean => rooms.some((room) => site.startsWith(room));

/** Steps by the places whose handlers ran in them. */
const sites = new Map<string, string[]>();
for (const [name, step] of Object.entries(world.steps)) {
  await within(30_000, step());
  ran.clear();
  await within(30_000, step());
  for (const site of ran) if (isOfWorld(site)) sites.set(site, [...(sites.get(site) ?? []), name]);
}

const held = get('/held');
await until(() => world.isHeld());
const outcomes: Omit<Outcome, 'logged'>[] = [];
const unreached: string[] = [];
const only = process.argv[3];
for (const [site, names] of sites) {
  if (only && !site.includes(only)) continue;
  for (const kind of ['exception', 'rejection'] as const) {
    internalErrors.takeDelta();
    const isWaiting = arm(site, kind);
    let name = names[0]!;
    // Assigns a timer to the last step in which it ran, because it can have run in earlier ones by chance.
    for (let attempt = 0; isWaiting() && attempt < 4; attempt++) {
      name = names.at(-1 - (attempt % names.length))!;
      await provoke(world.steps[name]!, isWaiting);
    }
    if (isWaiting()) {
      disarm();
      unreached.push(`${site} (${kind})`);
      continue;
    }
    const other = await get('/quick');
    const broken = await problem(world.works?.[name] ?? world.steps[name]!);
    const places = internalErrors.takeDelta().map(([place]) => place);
    outcomes.push({ site, kind, places, other, broken });
  }
}
await world.release();
const status = await held;
const logged = ({ site, kind }: Pick<Outcome, 'site' | 'kind'>): string | null =>
  lines.find((line) => line.includes(`planted as ${kind} at ${site}`)) ?? null;
// Waits for the log line for a limited time; a missing line is null in the report.
const deadline = performance.now() + 5_000;
await until(() => outcomes.every(logged) || performance.now() > deadline);
const report: Report = {
  outcomes: outcomes.map((outcome) => ({ ...outcome, logged: logged(outcome) })),
  unreached,
  held: status,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
await within(10_000, world.close()).catch(() => {});
process.exit();

/** Runs a step until its handler has failed or the step has ended. A step that the fault interrupts may never end. */
async function provoke(step: () => Promise<unknown>, isWaiting: () => boolean): Promise<void> {
  let isOver = false;
  const over = step()
    .catch(() => {})
    .then(() => {
      isOver = true;
    });
  const end = performance.now() + 3_000;
  await until(() => !isWaiting() || isOver || performance.now() > end);
  if (!isWaiting()) await within(100, over).catch(() => {});
}
