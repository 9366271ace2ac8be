import { systemAuthorities } from '#contract';

/** A collector that takes OTLP. */
export interface OtlpTarget {
  /** Name or address. */
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** Over HTTP with protobuf bodies; else gRPC. */
  readonly useHttp: boolean;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** In PEM; those that its certificate may be signed by, besides those of the system. */
  readonly authorities: readonly string[];
  /** Trusts only `authorities`. */
  readonly distrustsSystem: boolean;
  readonly userAgent: string;
}

/** All that the certificate of a collector may be signed by, in PEM. */
export function authoritiesOf({ authorities, distrustsSystem }: OtlpTarget): string[] {
  return distrustsSystem ? [...authorities] : [...systemAuthorities(), ...authorities];
}
