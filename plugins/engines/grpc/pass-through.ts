import type { DescMessage } from '@bufbuild/protobuf';
import { defineSlot } from '#contract';

/**
 * Pass-through state of a gRPC server call whose only backend speaks gRPC with the same messages: bytes are forwarded
 * unchanged. The server attaches it to the call; the backend sets `response`.
 */
export interface PassThrough {
  readonly input: DescMessage;
  readonly output: DescMessage;
  /** The encoded request. */
  readonly request: Uint8Array;
  /** The encoded response; null if the backend did not use the pass-through. */
  response: Uint8Array | null;
}

export const passThroughSlot = defineSlot<PassThrough>('grpc pass-through');
