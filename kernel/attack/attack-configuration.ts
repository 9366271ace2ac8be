import { createHash } from 'node:crypto';
import {
  type Attack,
  type AttackCatalogue,
  type AttackedEndpoint,
  type AttackRequest,
  type AttackStage,
  type AttackTarget,
  type Catalogue,
  copyData,
  type Data,
  type DataObject,
  type Weakness,
} from '#contract';
import { baselinesOf } from '../cases/index.ts';
import type { IsSecret, KnownPlugins } from '../config/index.ts';
import { severities } from '../contract/internal.ts';
import type { Served } from '../inspect/index.ts';
import type { SandboxOptions } from '../sandbox/open-sandbox.ts';
import { Arena } from './arena.ts';
import { attackedEndpoints, secretsOf } from './attacked-endpoints.ts';
import { baselineOf } from './baseline.ts';

/** A configuration to attack, and how. */
export interface AttackOptions {
  readonly catalogue: Catalogue;
  readonly attacks: AttackCatalogue;
  /** The parsed document, and the valid configuration that was read from it. */
  readonly document: DataObject;
  readonly served: Pick<Served, 'config' | 'compiled'>;
  readonly known: KnownPlugins;
  readonly isSecret: IsSecret;
  readonly isWanted: (attack: Attack) => boolean;
  readonly isTarget: (endpoint: AttackedEndpoint) => boolean;
  /** Seed of the generated texts: the same seed sends the same attacks. */
  readonly seed: number;
  /** Time after which no further attack begins, in milliseconds. */
  readonly limitMs: number;
  readonly sandbox?: SandboxOptions;
}

/** A weakness of a configuration. */
export interface Finding extends Required<Pick<Weakness, 'shown' | 'remedy' | 'requests' | 'severity'>> {
  readonly attack: string;
  readonly title: string;
  readonly endpoint: string;
  /** Number of other endpoints at which the same attack showed the same weakness. */
  readonly others: number;
  /** JSON pointer, with current names. */
  readonly pointer: string;
}

/** Result of all attacks. */
export interface AttackResult {
  readonly findings: readonly Finding[];
  /** Number of attacks that showed no weakness, on endpoints that accepted a generated request. */
  readonly withstood: number;
  /** Number of attacks on endpoints that did not begin within the time. */
  readonly unfinished: number;
  /** Endpoints that accepted no generated request, with the reason. They were attacked without valid credentials. */
  readonly unreached: readonly { readonly endpoint: string; readonly pointer: string; readonly reason: string }[];
  readonly attacks: number;
  readonly endpoints: number;
  readonly requests: number;
  /** Placeholders for credentials, by value. */
  readonly shown: ReadonlyMap<string, string>;
  readonly ms: number;
}

/** Requests that reach an endpoint with and without credentials, and the response that it gave before the attacks. */
type Ways = Pick<AttackTarget, 'baseline' | 'other' | 'anonymous' | 'accepted'>;

/** Attacks a configuration in a sandbox. @throws ConfigErrors if the sandbox rejects the configuration. */
export async function attackConfiguration(options: AttackOptions): Promise<AttackResult> {
  const run = new AttackRun(options);
  return run.run();
}

class AttackRun {
  readonly #options: AttackOptions;
  readonly #startedAt = performance.now();
  readonly #findings: Finding[] = [];
  readonly #unreached: AttackResult['unreached'][number][] = [];
  readonly #endpoints: readonly AttackedEndpoint[];
  readonly #secrets: readonly string[];
  #withstood = 0;
  #unfinished = 0;
  #requests = 0;

  constructor(options: AttackOptions) {
    this.#options = options;
    const { config } = options.served;
    this.#endpoints = attackedEndpoints(config, options.known);
    this.#secrets = secretsOf(config, options.isSecret);
  }

  async run(): Promise<AttackResult> {
    const { attacks: catalogue, document, served, known, seed, isWanted, isTarget } = this.#options;
    const attacks = catalogue.attacks.filter(isWanted);
    const stage = catalogue.stage(document, this.#endpoints);
    const { requests, omitted } = await baselinesOf(served, known, seed);
    const baselines = new Map(requests.map((baseline) => [baseline.endpoint, baseline]));
    const targets = this.#endpoints.filter((endpoint) => isTarget(endpoint) && baselines.has(endpoint.config));
    for (const { id, reason } of omitted) {
      const endpoint = this.#endpoints.find((each) => each.id === id);
      if (endpoint && isTarget(endpoint)) this.#unreached.push({ endpoint: id, pointer: endpoint.pointer, reason });
    }
    const arena = await this.#open(stage);
    try {
      const ways = new Map<AttackedEndpoint, Ways>();
      for (const endpoint of targets) {
        const plain = baselineOf(baselines.get(endpoint.config)!);
        ways.set(endpoint, await this.#approach(arena, stage, endpoint, plain));
      }
      for (const attack of attacks) {
        const applicable = targets.filter((endpoint) => attack.applies(endpoint, served.config));
        const chosen = attack.once ? firstReached(applicable, ways) : applicable;
        for (const endpoint of chosen) await this.#attack(attack, endpoint, ways.get(endpoint)!, arena, stage);
      }
    } finally {
      await arena.close();
    }
    return {
      findings: grouped(this.#findings),
      withstood: this.#withstood,
      unfinished: this.#unfinished,
      unreached: this.#unreached,
      attacks: attacks.length,
      endpoints: targets.length,
      requests: this.#requests,
      shown: stage.shown,
      ms: performance.now() - this.#startedAt,
    };
  }

  #open(stage: AttackStage, change?: (document: DataObject) => void): Promise<Arena> {
    const { catalogue, sandbox = {} } = this.#options;
    const document = copyData(stage.document as Data) as DataObject;
    change?.(document);
    return Arena.open(catalogue, document, stage, sandbox);
  }

  async #approach(arena: Arena, stage: AttackStage, endpoint: AttackedEndpoint, plain: AttackRequest): Promise<Ways> {
    const [baseline, other, without] = ([0, 1, null] as const).map((caller) =>
      stage.identify(endpoint, plain, caller),
    ) as [Ways['baseline'], Ways['baseline'], Ways['baseline']];
    arena.recover();
    const accepted = await arena.send(baseline);
    arena.recover();
    const refused = await arena.send(without);
    this.#requests += 2;
    const isProtected = refused.calls.length === 0 && (refused.status === 401 || refused.status === 403);
    if (!isReached({ accepted })) {
      const reason = accepted.status === 0 ? 'no response' : `status ${accepted.status}`;
      this.#unreached.push({ endpoint: endpoint.id, pointer: endpoint.pointer, reason });
    }
    return { baseline, other, anonymous: isProtected ? without : null, accepted };
  }

  async #attack(
    attack: Attack,
    endpoint: AttackedEndpoint,
    ways: Ways,
    shared: Arena,
    stage: AttackStage,
  ): Promise<void> {
    if (performance.now() - this.#startedAt > this.#options.limitMs) {
      this.#unfinished += 1;
      return;
    }
    const arena = attack.isolated ? await this.#open(stage, attack.stage) : shared;
    try {
      arena.recover();
      const weaknesses = await attack.run(this.#target(attack, endpoint, ways, arena));
      if (weaknesses.length === 0 && isReached(ways)) this.#withstood += 1;
      for (const { shown, remedy, requests, pointer = endpoint.pointer, severity = attack.severity } of weaknesses) {
        const { name, title } = attack;
        const effect = { shown, remedy, requests, pointer, severity };
        this.#findings.push({ attack: name, title, endpoint: endpoint.id, others: 0, ...effect });
      }
    } finally {
      if (arena !== shared) await arena.close();
    }
  }

  #target(attack: Attack, endpoint: AttackedEndpoint, ways: Ways, arena: Arena): AttackTarget {
    const { served, seed } = this.#options;
    const origin = createHash('sha256').update(`${seed} ${attack.name} ${endpoint.id}`).digest('hex');
    return {
      ...endpoint,
      ...ways,
      service: served.config,
      endpoints: this.#endpoints,
      secrets: this.#secrets,
      marker: `attack${origin.slice(0, 8)}`,
      send: (request) => {
        this.#requests += 1;
        return arena.send(request);
      },
      write: (...given) => {
        this.#requests += 1;
        return arena.write(...given);
      },
      respond: (respond) => arena.respond(respond),
    };
  }
}

/**
 * Whether the endpoint accepted its generated request. If it did not, a rejected attack says little about the endpoint.
 */
function isReached({ accepted: { status } }: Pick<Ways, 'accepted'>): boolean {
  return status > 0 && status < 400;
}

/** The first endpoint that accepts requests, otherwise the first endpoint; undefined for an empty list. */
function firstReached(
  endpoints: readonly AttackedEndpoint[],
  ways: ReadonlyMap<AttackedEndpoint, Ways>,
): readonly AttackedEndpoint[] {
  const chosen = endpoints.find((endpoint) => isReached(ways.get(endpoint)!)) ?? endpoints[0];
  return chosen ? [chosen] : [];
}

/** Unites the findings of one attack with the same cause, and names the first of their endpoints. */
function grouped(findings: readonly Finding[]): Finding[] {
  const bySetting = Map.groupBy(findings, ({ attack, pointer, remedy }) => `${attack}\n${pointer}\n${remedy}`);
  const united = [...bySetting.values()].map((group) => ({
    ...group[0]!,
    others: new Set(group.map(({ endpoint }) => endpoint)).size - 1,
  }));
  return united.toSorted((one, other) => rank(one) - rank(other));
}

function rank({ severity }: Finding): number {
  return severities.indexOf(severity);
}
