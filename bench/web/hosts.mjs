/** The hosts of the benches: addresses of the loopback network and, for TLS, names under one wildcard certificate. */

const DOMAIN = 'hosts.test'
/** Hosts with the same second last number; a last number of 0 or 255 is avoided. */
const PER_BLOCK = 250
/** Apart from 127.0.0.1, which other servers of this machine use. */
const FIRST_BLOCK = 256

export const WILDCARD = `*.${DOMAIN}`

export function addressOf(host) {
  const block = FIRST_BLOCK + Math.floor(host / PER_BLOCK)
  return `127.${block >> 8}.${block & 255}.${(host % PER_BLOCK) + 1}`
}

export function hostOfAddress(address) {
  const [, high, low, last] = address.split('.').map(Number)
  return (high * 256 + low - FIRST_BLOCK) * PER_BLOCK + last - 1
}

export function nameOf(host) {
  return `h${host}.${DOMAIN}`
}

export function addressOfName(name) {
  return addressOf(Number(name.slice(1, name.indexOf('.'))))
}
