import { systemAuthorities } from '#contract';

/** An OTLP collector. */
export interface OtlpTarget {
  /** Host name or IP address. */
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** Uses HTTP with protobuf bodies; otherwise gRPC. */
  readonly useHttp: boolean;
  /** Headers sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** CA certificates to trust in addition to the system trust store, in PEM. */
  readonly authorities: readonly string[];
  /** Trusts only `authorities`. */
  readonly distrustsSystem: boolean;
  readonly userAgent: string;
}

/** All CA certificates trusted for a collector, in PEM. */
export function authoritiesOf({ authorities, distrustsSystem }: OtlpTarget): string[] {
  return distrustsSystem ? [...authorities] : [...systemAuthorities(), ...authorities];
}
