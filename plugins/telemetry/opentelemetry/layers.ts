import type { MeterAttributes } from '#contract';
import { type HeaderReport, headerReport } from './header-report.ts';
import type { BackendLayerConfig, GlobalLayerConfig, ProxyLayerConfig } from './schema.ts';

/** Reported signals of one layer, each with its attributes. Null disables a signal. */
export interface Layer {
  readonly metrics: MeterAttributes | null;
  readonly traces: TraceLayer | null;
}

/** Settings for the spans of a layer. */
export interface TraceLayer {
  readonly attributes: MeterAttributes;
  readonly headers: HeaderReport | null;
}

/** Reported parts of a backend call: the whole pipe, the request up to its response, the body, the connection. */
export interface ClientSwitches {
  readonly stage: boolean;
  readonly roundTrip: boolean;
  readonly readPayload: boolean;
  readonly detailed: boolean;
}

export interface BackendLayer {
  readonly metrics: ClientSwitches & { readonly attributes: MeterAttributes };
  readonly traces: ClientSwitches & TraceLayer;
}

type Attributes = readonly { readonly key: string; readonly value: string }[];

/** Converts configured attributes; omits those with an empty name or value. */
export function staticAttributes(list: Attributes = []): MeterAttributes {
  return Object.freeze(
    Object.fromEntries(
      list.filter(({ key, value }) => key !== '' && value !== '').map(({ key, value }) => [key, value]),
    ),
  );
}

/** Returns the outermost layer or the layer around an endpoint's backends. Undefined selects all defaults. */
export function layerOf(
  config: GlobalLayerConfig | ProxyLayerConfig | undefined,
  headers: HeaderReport | null = headerReport(config),
): Layer {
  return {
    metrics: config?.disable_metrics ? null : staticAttributes(config?.metrics_static_attributes),
    traces: config?.disable_traces ? null : { attributes: staticAttributes(config?.traces_static_attributes), headers },
  };
}

/** Returns the switches of a layer's settings; without an object, everything is switched on. */
function switchesOf(config: BackendLayerConfig['metrics']): ClientSwitches {
  if (!config) return { stage: true, roundTrip: true, readPayload: true, detailed: true };
  return {
    stage: !config.disable_stage,
    roundTrip: config.round_trip,
    readPayload: config.read_payload,
    detailed: config.detailed_connection,
  };
}

export function backendLayerOf({ metrics, traces }: BackendLayerConfig = {}): BackendLayer {
  return {
    metrics: { ...switchesOf(metrics), attributes: staticAttributes(metrics?.static_attributes) },
    traces: {
      ...switchesOf(traces),
      attributes: staticAttributes(traces?.static_attributes),
      headers: headerReport(traces),
    },
  };
}
