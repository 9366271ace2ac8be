import { ConfigError, type Data, type DataObject, type EndpointContract } from '#contract';
import { compileSchema, joinPointer } from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import { type ContractData, contractSchema } from './contract-schema.ts';
import { type Shape, united } from './shape.ts';
import { type Inferring, toSchema, toShape } from './to-schema.ts';

/** The responses of an endpoint with one status. */
export interface ContractedResponse {
  /** Media types without parameters; empty for responses without a body. */
  readonly contentTypes: Set<string>;
  samples: number;
  /** Shape of JSON bodies; null without any. */
  shape: Shape | null;
}

/** Responses that clients of an endpoint receive for a method. */
export interface Contract {
  /** Path of the endpoint, as in the configuration. */
  readonly endpoint: string;
  readonly method: string;
  readonly responses: Map<number, ContractedResponse>;
}

/** Key under which requests of an endpoint find their contract: names of parameters are irrelevant to clients. */
export function contractKey(method: string, endpoint: string): string {
  return `${method} ${endpoint.replace(/\{[^{}]*\}/g, '{}')}`;
}

/** Adds all samples of a contract to another one. */
export function includeContract(contract: Contract, other: Contract): void {
  for (const [status, { contentTypes, samples, shape }] of other.responses) {
    const own = responseOf(contract, status);
    own.samples += samples;
    for (const type of contentTypes) own.contentTypes.add(type);
    own.shape = united(own.shape, shape);
  }
}

/** The responses of a contract with a status, which are created if necessary. */
export function responseOf({ responses }: Contract, status: number): ContractedResponse {
  const known = responses.get(status);
  if (known) return known;
  const created: ContractedResponse = { contentTypes: new Set<string>(), samples: 0, shape: null };
  responses.set(status, created);
  return created;
}

/** Prints a contract for a file. Equal samples yield equal text in any order. */
export function printContract({ endpoint, method, responses }: Contract, inferring: Inferring): string {
  const written: DataObject = {};
  for (const [status, { contentTypes, samples, shape }] of [...responses].sort(([one], [other]) => one - other)) {
    const types = [...contentTypes].sort();
    written[status] = {
      ...(types.length > 0 && { content_type: types.length === 1 ? types[0]! : types }),
      samples,
      ...(shape && { schema: toSchema(shape, inferring) }),
    };
  }
  return `${JSON.stringify({ endpoint, method, responses: written }, null, 2)}\n`;
}

/** A contract as plain data. */
export function describeContract({ endpoint, method, responses }: Contract): EndpointContract {
  const written = { minSamples: 1, enums: false };
  return {
    endpoint,
    method,
    responses: [...responses].map(([status, { contentTypes, shape }]) => ({
      status,
      contentTypes: [...contentTypes],
      schema: shape && toSchema(shape, written),
    })),
  };
}

/** Reads the data of a contract file. @throws ConfigErrors. */
export function toContract(data: Data): Contract {
  const { value, errors } = compileSchema(contractSchema)(data, '');
  if (errors.length > 0) throw new ConfigErrors(errors);
  const { endpoint, method, responses } = value as ContractData;
  const contract: Contract = { endpoint, method, responses: new Map() };
  for (const [status, { content_type: types, samples, schema }] of Object.entries(responses)) {
    if (!/^[1-5]\d\d$/.test(status)) {
      const message = `"${status}" is not a valid status`;
      throw new ConfigErrors([new ConfigError('CONTRACT_STATUS', joinPointer('/responses', status), message)]);
    }
    contract.responses.set(Number(status), {
      contentTypes: new Set([types ?? []].flat() as string[]),
      samples,
      shape: schema === undefined ? null : toShape(schema as Data, samples),
    });
  }
  return contract;
}
