/** Ports of a stage: of the failing server behind a switch, and of a healthy backend. */
export interface Ports {
  readonly side: number;
  readonly backend: number;
}

/** A gateway with one component, and a request that uses it. */
export interface Stage {
  /** Server behind the switch. */
  readonly server: 'http' | 'grpc' | 'authorization' | 'nats' | 'redis' | 'mcp';
  readonly root?: object;
  readonly endpoint: object;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
  /** Matches the body of a response for which the other side was used. Default: any body with status 200. */
  readonly served?: RegExp;
  /** True if the outage begins before the gateway has connected to the server or broker. */
  readonly startsOut?: true;
  /** Key and value that Redis contains. */
  readonly stored?: readonly [key: string, value: string];
  /** Time between a successful request and the outage, in milliseconds. */
  readonly pauseMs?: number;
}

export const url = (port: number) => `http://127.0.0.1:${port}`;
export const backend = (port: number, extra_config: object = {}, more: object = {}) => ({
  ...{ host: [url(port)], url_pattern: '/', extra_config },
  ...more,
});
export const plain = ({ backend: port }: Ports) => [backend(port)];
export const redisRoot = (side: number) => ({
  redis: {
    connection_pools: [{ name: 'r', address: `127.0.0.1:${side}`, command_timeout: '100ms', dial_timeout: '1s' }],
  },
});
export const base64 = (text: string) => Buffer.from(text).toString('base64');
export const json = { 'Content-Type': 'application/json' };
