/** Revisions of the protocol in which a client introduces itself with `initialize`, oldest first. */
export const handshakeVersions: readonly string[] = ['2025-03-26', '2025-06-18', '2025-11-25'];

/** What was before them: clients introduce themselves so, too, but over a transport of its own. */
export const oldestVersion = '2024-11-05';

/** Revisions in which every request says all that is to be known of its client, oldest first. */
export const statelessVersions: readonly string[] = ['2026-07-28'];

/** Every revision of the Model Context Protocol that is spoken here, newest first. */
export const mcpVersions: readonly string[] = [...handshakeVersions, ...statelessVersions].reverse();

/** Keys of `_meta` that the protocol keeps for itself. */
export const metaKeys = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
} as const;
