/** Protocol revisions in which a client begins with `initialize`, oldest first. */
export const handshakeVersions: readonly string[] = ['2025-03-26', '2025-06-18', '2025-11-25'];

/** The protocol revision before `handshakeVersions`: it also begins with `initialize`, but has its own transport. */
export const oldestVersion = '2024-11-05';

/** Protocol revisions in which every request describes its client completely, oldest first. */
export const statelessVersions: readonly string[] = ['2026-07-28'];

/** All supported revisions of the Model Context Protocol, newest first. */
export const mcpVersions: readonly string[] = [...handshakeVersions, ...statelessVersions].reverse();

/** Keys of `_meta` reserved by the protocol. */
export const metaKeys = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
} as const;
