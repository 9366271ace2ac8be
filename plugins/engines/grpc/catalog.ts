import type { DescMessage, DescMethod, Registry } from '@bufbuild/protobuf';
import { definePort, type Port } from '#contract';

/** Services, methods and messages described by the descriptors of a configuration. */
export interface GrpcCatalog {
  readonly registry: Registry;
  /** @param path such as `/package.Service/Method`; undefined for an unknown method. */
  method(path: string): DescMethod | undefined;
  /** Paths of all methods. */
  readonly paths: readonly string[];
}

/** Lets the component `grpc` provide its catalog of message descriptors to other components. */
export const grpcCatalog: Port<GrpcCatalog> = definePort('grpc catalog');

/** Returns the path of a method. */
export function pathOf({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}

/** A message as represented by the library: fields by their local names. */
export type Message = Record<string, unknown> & { readonly $typeName: string };

export type { DescMessage, DescMethod };
