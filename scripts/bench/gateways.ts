import { createGateway } from '../../kernel/sluice.ts';
import './probe.ts';

/**
 * Several gateways in one process, for comparing them: what the collector and the compiler do to one of them, they do to
 * the other. Arguments: their configuration files.
 */
for (const file of process.argv.slice(2)) await (await createGateway(file)).listen();
process.once('disconnect', () => process.exit());
