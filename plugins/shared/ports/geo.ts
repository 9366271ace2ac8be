import { type DataObject, definePort, type Port } from '#contract';

/**
 * Looks up the location of an address in the City database: all members exist, empty if unknown. Frozen, and shared by
 * all callers.
 */
export type LocateAddress = (address: string) => Readonly<DataObject>;

/** Port through which the component with the address database provides it. */
export const geoLocations: Port<LocateAddress> = definePort('geo locations');
