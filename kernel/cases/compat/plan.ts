import type { Data } from '#contract';
import { type FindPosition, pointerOnly, type Served } from '../../inspect/index.ts';
import type { Registry } from '../../registry/registry.ts';
import { baselinesOf, type Omitted } from '../generate/baseline.ts';
import { documentMocks, sandboxData } from '../generate/sandbox-data.ts';
import type { Mock } from '../mock.ts';
import type { CompatCase } from './case.ts';
import { comparableOf, generatedCases } from './generated-cases.ts';
import { type Origins, originsOf, otherData } from './origins.ts';
import { type CaseSources, casesFrom } from './sources.ts';
import { withoutEndpoints } from './without-endpoints.ts';

/** A configuration to compare, and the sources of its requests. */
export interface Planning {
  readonly data: Data;
  readonly served: Served;
  readonly registry: Registry;
  /** Maps pointers of the normalized configuration to pointers of the document. */
  readonly origin: (pointer: string) => string;
  readonly position?: FindPosition;
  readonly sources: CaseSources;
  readonly seed: number;
}

/** Everything that can be prepared before the other gateway is contacted. */
export interface CompatPlan {
  readonly cases: readonly CompatCase[];
  /** Endpoints that are not compared, with the reason. */
  readonly omitted: readonly Omitted[];
  /** Positions of endpoints in the file, by ID. */
  readonly positions: ReadonlyMap<string, ReturnType<FindPosition>>;
  /** The configuration as it runs in the sandbox. */
  readonly source: object;
  readonly origins: Origins;
  readonly documents: readonly Mock[];
  /**
   * Configuration of the other gateway. @param addresses address of each mocked origin. @param url URL of that gateway;
   * null keeps the port.
   */
  other(addresses: ReadonlyMap<string, string>, url: URL | null): Data;
}

/** Prepares a comparison. @throws ConfigError, ConfigErrors for invalid sources of requests. */
export async function planCompat(planning: Planning): Promise<CompatPlan> {
  const { data, served, registry, origin, position = pointerOnly, sources, seed } = planning;
  const baselines = await baselinesOf(served, registry, seed, (pointer) => position(origin(pointer)));
  const sandboxed = sandboxData(data, baselines, origin);
  const urls = new Set(baselines.documents.keys());
  const origins = originsOf(served.config, sandboxed, urls);
  const { requests, omitted } = comparableOf(baselines, origins, registry.catalogue.defaultProtocol);
  const source = withoutEndpoints(
    sandboxed,
    omitted.map(({ pointer }) => origin(pointer)),
  );
  const given = await casesFrom(sources, { served, requests, known: registry, origins, seed });
  return {
    cases: given ?? generatedCases(requests, registry, origins),
    omitted,
    positions: new Map(requests.map(({ route }) => [route.id, route])),
    source: source as object,
    origins,
    documents: documentMocks(baselines),
    other: (addresses, url) => otherData(source, origins, addresses, url),
  };
}
