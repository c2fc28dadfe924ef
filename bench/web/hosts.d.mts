export const WILDCARD: string
export function addressOf(host: number): string
export function hostOfAddress(address: string): number
export function nameOf(host: number): string
export function addressOfName(name: string): string
