import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import type { Catalogue } from '#contract';
import { ConfigText } from '../../control/snapshot.ts';
import { Channel } from '../../workers/channel.ts';
import { type ContractsOutcome, checkTraffic } from '../contracts/check-traffic.ts';
import { parseHar } from '../har.ts';
import { type ReplayOptions, type ReplayResult, replay } from '../replay/replay.ts';
import { trafficOf } from '../replay/traffic.ts';
import { shadowTasks } from '../shadow/shadow-tasks.ts';
import type { SentConfiguration } from './sent-configuration.ts';

/** Input of every rehearsal. */
export interface RehearsalOrder {
  /** Recorded requests, as the text of a HAR file. */
  readonly har: string;
  readonly next: SentConfiguration;
  readonly baseline: SentConfiguration;
  readonly pluginFolder: string | null;
}

/** Input of a check of contracts. */
interface ContractsOrder extends RehearsalOrder {
  /** Folder of the contracts. */
  readonly folder: string;
}

/** Rehearsals by name. */
export interface Rehearsals {
  replay(order: RehearsalOrder): Promise<ReplayResult>;
  contracts(order: ContractsOrder): Promise<ContractsOutcome>;
}

function rehearsalsOf(catalogue: Catalogue): Rehearsals {
  return {
    replay: (order) => replay(trafficOf(parseHar(order.har)), optionsOf(catalogue, order)),
    contracts: ({ folder, ...order }) =>
      checkTraffic(folder, trafficOf(parseHar(order.har)), optionsOf(catalogue, order)),
  };
}

/**
 * Rehearses changes for a gateway that serves in another process, until that process closes the channel.
 * @returns the exit code.
 */
export async function runRehearsals(catalogue: Catalogue): Promise<number> {
  // These signals reach the whole process group; the gateway ends this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  // Processes that serve requests take precedence.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  const ended = once(process, 'disconnect');
  new Channel(process, { ...rehearsalsOf(catalogue), ...shadowTasks(catalogue) });
  await ended;
  return 0;
}

function optionsOf(catalogue: Catalogue, { next, baseline, pluginFolder }: RehearsalOrder): ReplayOptions {
  return {
    catalogue,
    source: new ConfigText(next.text, next.format),
    baseline: new ConfigText(baseline.text, baseline.format),
    ...(pluginFolder !== null && { pluginFolder }),
  };
}
