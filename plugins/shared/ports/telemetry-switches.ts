import { definePort, type EndpointConfig, type Port } from '#contract';

/** Enabled telemetry of an endpoint that is not part of the configuration. */
export interface TelemetrySwitches {
  readonly metrics: boolean;
  readonly traces: boolean;
}

/** Components that publish their own endpoints select the telemetry of each; undefined for endpoints of others. */
export const telemetrySwitches: Port<(endpoint: EndpointConfig) => TelemetrySwitches | undefined> =
  definePort('telemetry switches');
