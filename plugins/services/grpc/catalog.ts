import type { DescMessage, DescMethod, Registry } from '@bufbuild/protobuf';
import { definePort, type Port } from '#contract';

/** Services, methods and messages that the descriptors of a configuration describe. */
export interface GrpcCatalog {
  readonly registry: Registry;
  /** @param path as in `/package.Service/Method`; undefined for what is not there. */
  method(path: string): DescMethod | undefined;
  /** Paths of all methods. */
  readonly paths: readonly string[];
}

/** What the component `grpc` makes of its catalog. */
export const grpcCatalog: Port<GrpcCatalog> = definePort('grpc catalog');

/** The path of a method. */
export function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

/** A message as this library has it: fields by their local names. */
export type Message = Record<string, unknown> & { readonly $typeName: string };

export type { DescMessage, DescMethod };
