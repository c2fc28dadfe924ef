import type { SelectionPolicy } from './contract.js'

/** Policies for choosing among ready hosts; the smallest number goes first. */

/** The host that has been ready longest goes first, so a huge host takes turns with all others. */
export const firstCome: SelectionPolicy = (host) => host.readyAt
