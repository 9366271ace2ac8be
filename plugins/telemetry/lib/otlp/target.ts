import { systemAuthorities } from '#contract';

/** An OTLP collector. */
export interface OtlpTarget {
  /** Host name or IP address. */
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** Whether to use HTTP with protobuf bodies instead of gRPC. */
  readonly useHttp: boolean;
  /** Headers sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** CA certificates to trust in addition to the system trust store, in PEM. */
  readonly authorities: readonly string[];
  /** Whether only the certificates in `authorities` are trusted, not the system trust store. */
  readonly distrustsSystem: boolean;
  readonly userAgent: string;
}

/** All CA certificates trusted for a collector, in PEM. */
export function authoritiesOf({ authorities, distrustsSystem }: OtlpTarget): string[] {
  return distrustsSystem ? [...authorities] : [...systemAuthorities(), ...authorities];
}
