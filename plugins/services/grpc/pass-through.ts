import type { DescMessage } from '@bufbuild/protobuf';
import { defineSlot } from '#contract';

/**
 * A call of the gRPC server whose one backend speaks gRPC with the same messages: bytes pass as they are. The server leaves
 * it on the call, the backend fills `response` in.
 */
export interface PassThrough {
  readonly input: DescMessage;
  readonly output: DescMessage;
  /** The encoded request. */
  readonly request: Uint8Array;
  /** The encoded response; null for a backend that did not take part. */
  response: Uint8Array | null;
}

export const passThroughSlot = defineSlot<PassThrough>('grpc pass-through');
