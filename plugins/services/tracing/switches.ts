import { definePort, type EndpointConfig, type Port } from '#contract';

/** What is reported of an endpoint that is no one of the configuration's. */
export interface TelemetrySwitches {
  readonly metrics: boolean;
  readonly traces: boolean;
}

/** Who publishes endpoints of its own says of each what is reported; undefined for one of others. */
export const telemetrySwitches: Port<(endpoint: EndpointConfig) => TelemetrySwitches | undefined> =
  definePort('telemetry switches');
