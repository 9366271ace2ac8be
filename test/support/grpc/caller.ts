import type { Client, ServiceError } from '@grpc/grpc-js';
import { Metadata } from '@grpc/grpc-js';

/** Result of a call of a standard client. */
export interface Ended {
  /** gRPC status code. */
  readonly code: number;
  readonly details: string;
  /** Undefined for a call that failed. */
  readonly value: Record<string, unknown> | undefined;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Calls a unary method of a standard client. */
export function callUnary(
  client: Client,
  method: string,
  request: object = {},
  {
    metadata = {},
    ...options
  }: { readonly metadata?: Readonly<Record<string, string>>; readonly deadline?: number } = {},
): Promise<Ended> {
  const sent = new Metadata();
  for (const [key, value] of Object.entries(metadata)) sent.add(key, value);
  return new Promise((resolve) => {
    let answered: { error: ServiceError | null; value?: Record<string, unknown> } | undefined;
    let headers = {};
    let status: { code: number; details: string; metadata: Metadata } | undefined;
    const settle = () => {
      if (!answered || !status) return;
      const { code, details, metadata: trailers } = status;
      resolve({ code, details, value: answered.value, trailers: trailers.getMap(), headers });
    };
    const call = (client as unknown as Record<string, (...given: unknown[]) => never>)[method]!(
      request,
      sent,
      options,
      (error: ServiceError | null, value?: Record<string, unknown>) => {
        answered = { error, ...(value && { value }) };
        settle();
      },
    ) as { on(name: string, listener: (given: never) => void): void };
    call.on('metadata', (given: Metadata) => {
      headers = given.getMap();
    });
    call.on('status', (given: typeof status) => {
      status = given;
      settle();
    });
  });
}
