import { definePort, type EndpointConfig, type Port } from '#contract';

/** Kinds of telemetry that are enabled for an endpoint that is not part of the configuration. */
export interface TelemetrySwitches {
  readonly metrics: boolean;
  readonly traces: boolean;
}

/** Selects the telemetry of an endpoint that a component publishes; undefined for endpoints of other components. */
export const telemetrySwitches: Port<(endpoint: EndpointConfig) => TelemetrySwitches | undefined> =
  definePort('telemetry switches');
