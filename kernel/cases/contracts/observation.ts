import { ANY } from '../../contract/internal.ts';
import { jsonOf } from '../body.ts';
import type { TestResponse } from '../test.ts';
import { type Contract, contractKey, responseOf } from './contract.ts';
import { Shape } from './shape.ts';

/** A response of an endpoint to a client. */
export interface Observation {
  /** Endpoint, for example `GET /users/{id}`. */
  readonly endpoint: string;
  /** Method of the request. */
  readonly method: string;
  /** Method and path of the request, as an example. */
  readonly example: string;
  readonly response: Pick<TestResponse, 'status' | 'headers' | 'body'>;
  /** Sentences that explain an unexpected response, for example a call of a backend that the recording does not contain. */
  readonly notes: readonly string[];
}

/** Contracts by the keys of their requests. */
export type Contracts = Map<string, Contract>;

/**
 * Method and path under which a contract describes the request; null for requests that the gateway answers itself, for
 * example HEAD at a GET endpoint.
 */
export function contracted({ endpoint, method }: Pick<Observation, 'endpoint' | 'method'>) {
  const at = endpoint.indexOf(' ');
  const [own, path] = [endpoint.slice(0, at), endpoint.slice(at + 1)];
  return own === method || own === ANY ? { method, path, key: contractKey(method, path) } : null;
}

/** Groups responses by the keys of their contracts. */
export function byContract(observations: readonly Observation[]): Map<string, Observation[]> {
  const known = observations.filter((observation) => contracted(observation) !== null);
  return Map.groupBy(known, (observation) => contracted(observation)!.key);
}

/** Collects responses by endpoint, method and status. */
export function collect(observations: readonly Observation[]): Contracts {
  const groups = [...byContract(observations)];
  return new Map(groups.map(([key, group]) => [key, contractOf(group)!]));
}

/** Infers the contract that all responses of one endpoint fulfill; null without responses. */
export function contractOf(observations: readonly Observation[]): Contract | null {
  const [first] = observations;
  const names = first && contracted(first);
  if (!names) return null;
  const contract: Contract = { endpoint: names.path, method: names.method, responses: new Map() };
  for (const { response } of observations) addResponse(contract, response);
  return contract;
}

function addResponse(contract: Contract, { status, headers, body }: Observation['response']): void {
  const response = responseOf(contract, status);
  response.samples++;
  const type = mediaType(headers.get('content-type')?.[0] ?? '');
  if (type !== '') response.contentTypes.add(type);
  const data = isJson(type) ? jsonOf(body) : undefined;
  if (data === undefined) return;
  response.shape ??= new Shape();
  response.shape.add(data);
}

/** The media type of a `Content-Type` header, without parameters. */
export function mediaType(header: string): string {
  return header.toLowerCase().replace(/;.*$/s, '').trim();
}

/** Whether a media type is that of JSON documents. */
export function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json$/.test(type);
}
