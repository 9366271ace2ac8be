import type { Call, ClientRequest, DataObject, Encoding, EndpointConfig, Reply, Step } from '#contract';
import type { PipeStages } from '../steps/stages.ts';

/** State of a component of an endpoint, for operators. */
export interface ComponentState {
  readonly namespace: string;
  /** Index of the component's backend; null for a component of the endpoint. */
  readonly backend: number | null;
  readonly state: DataObject;
}

/** A compiled endpoint whose requests can be observed. */
export interface Observable {
  readonly endpoint: EndpointConfig;
  readonly output: Encoding;
  readonly stages: PipeStages;
  /** The whole pipe. */
  readonly handle: Step<ClientRequest>;
  /** Names of headers, parameters and fields that its components declare as credentials. */
  readonly credentials: readonly string[];
  /** Combines the stages of the pipe again, with timing: requests carry their times in `timesSlot`. */
  timed(): Step<ClientRequest>;
  /** States of the components in this process. */
  states(): readonly ComponentState[];
}

/** Handles the requests of clients to an endpoint while they are observed. */
export interface RequestObserver {
  run(endpoint: Observable, request: ClientRequest, call: Call): Reply | Promise<Reply>;
}
