import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { partsOf } from '../gateway.ts';
import { arm, disarm, type Kind, ran } from './plant.ts';
import type { World } from './world.ts';

/**
 * Runs a world, and makes each handler fail that the gateway registered in it, one after another and in both ways. Writes as
 * JSON what became of each.
 */
export interface Outcome {
  readonly site: string;
  readonly kind: Kind;
  /** Places that counted an error. */
  readonly places: readonly string[];
  /** What was logged of it; null for nothing. */
  readonly logged: string | null;
  /** Status of a request on another connection. */
  readonly other: number;
  /** What still does not work afterwards; null for nothing. */
  readonly broken: string | null;
}

export interface Report {
  readonly outcomes: readonly Outcome[];
  /** Sites whose handlers ran once, but not again. */
  readonly unreached: readonly string[];
  /** Status of the request that was in flight all the time. */
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

/** Within a time, in milliseconds. @throws what the step throws. */
async function run(step: () => Promise<unknown>, ms: number): Promise<void> {
  const late = new AbortController();
  const tooLate = delay(ms, undefined, { signal: late.signal }).then(() => {
    throw new Error('too late');
  });
  tooLate.catch(() => {});
  const running = step();
  running.catch(() => {});
  await Promise.race([running, tooLate]).finally(() => late.abort());
}

/** Until it works, or not within 20 seconds. */
async function problem(step: () => Promise<unknown>): Promise<string | null> {
  const end = performance.now() + 5_000;
  for (;;) {
    try {
      await run(step, 3_000);
      return null;
    } catch (error) {
      if (performance.now() > end) return String(error);
      await delay(50);
    }
  }
}

/** Steps by the sites whose handlers ran in them. */
const sites = new Map<string, string[]>();
for (const [name, step] of Object.entries(world.steps)) {
  await run(step, 30_000);
  ran.clear();
  await run(step, 30_000);
  for (const site of ran) sites.set(site, [...(sites.get(site) ?? []), name]);
}

const held = get('/held');
const outcomes: Omit<Outcome, 'logged'>[] = [];
const unreached: string[] = [];
const only = process.argv[3];
for (const [site, names] of sites) {
  if (only && !site.includes(only)) continue;
  for (const kind of ['exception', 'rejection'] as const) {
    internalErrors.takeDelta();
    const isWaiting = arm(site, kind);
    let step = world.steps[names[0]!]!;
    // Timers may have run in any step by chance; the last one is the likeliest to be about them.
    for (let attempt = 0; isWaiting() && attempt < 4; attempt++) {
      step = world.steps[names.at(-1 - (attempt % names.length))!]!;
      await provoke(step, isWaiting);
    }
    if (isWaiting()) {
      disarm();
      unreached.push(`${site} (${kind})`);
      continue;
    }
    await delay(1);
    const other = await get('/quick');
    const broken = await problem(step);
    const places = internalErrors.takeDelta().map(([place]) => place);
    outcomes.push({ site, kind, places, other, broken });
  }
}
await world.release();
const status = await held;
await delay(300);
const logged = (site: string, kind: Kind): string | null =>
  lines.find((line) => line.includes(`planted as ${kind} at ${site}`)) ?? null;
const report: Report = {
  outcomes: outcomes.map((outcome) => ({ ...outcome, logged: logged(outcome.site, outcome.kind) })),
  unreached,
  held: status,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
await Promise.race([world.close(), delay(10_000)]);
process.exit();

/** Runs a step until its handler has failed, or it is over. What the fault interrupts may never end. */
async function provoke(step: () => Promise<unknown>, isWaiting: () => boolean): Promise<void> {
  let isOver = false;
  const over = step()
    .catch(() => {})
    .then(() => {
      isOver = true;
    });
  for (let waits = 0; isWaiting() && !isOver && waits < 600; waits++) await delay(5);
  if (!isWaiting()) await Promise.race([over, delay(100)]);
}
