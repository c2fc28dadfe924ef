/**
 * What a loopback web looks like from afar: its hosts, their addresses, the paths of their pages, and the numbers
 * that decide everything else. Both sides read it: the server to answer, the test to know what to ask for.
 *
 * Plain JavaScript, because the server is forked without a loader; shape.d.mts declares it for TypeScript.
 */

/** @typedef {import('./web.js').WebOptions} WebOptions */
/** @typedef {import('./shape.mjs').WebShape} WebShape */

/** 127.1.0.0: above the addresses that a machine may use for itself, such as 127.0.0.53. */
const FIRST_ADDRESS = 0x7f010000
/** 127.255.255.255 is the broadcast address of the loopback network and no host. */
const MOST_HOSTS = 0x7fffffff - FIRST_ADDRESS
/** A link holds its page in 32 bits. */
const MOST_PAGES_PER_HOST = 2 ** 31 - 1

/** Keeps the draw of a latency apart from the draw of the links. */
const FOR_LATENCY = 1

/** Uniform draws are below this number. */
export const UINT32 = 2 ** 32

/** @param {boolean} fine @param {string} what */
function need(fine, what) {
  if (!fine) throw new RangeError(`Loopback web: ${what}.`)
}

/** Fills in the defaults and refuses a web that cannot be. @param {WebOptions} options @returns {WebShape} */
export function shapeOf(options) {
  const { hosts = 1, pagesPerHost = 100, linksPerPage = 60, bytes = 14_336, crossHostShare = 0 } = options
  const { latencyMs = 0, seed = 1, gzip = false, bind = '0.0.0.0', port = 0, robots } = options
  need(Number.isInteger(hosts) && hosts >= 1 && hosts <= MOST_HOSTS, `hosts must be 1 to ${MOST_HOSTS}`)
  need(bind === '0.0.0.0' || hosts === 1, 'on 127.0.0.1 alone there is one host')
  need(!Array.isArray(pagesPerHost) || pagesPerHost.length === hosts, 'pagesPerHost needs one number a host')
  need(crossHostShare >= 0 && crossHostShare <= 1, 'crossHostShare must be 0 to 1')
  const crossing = hosts > 1 && crossHostShare > 0
  need(linksPerPage >= (crossing ? 2 : 1), 'linksPerPage is too low to keep every page reachable')

  const firstPage = new Float64Array(hosts + 1)
  for (let host = 0; host < hosts; host++) {
    const pages = Array.isArray(pagesPerHost) ? pagesPerHost[host] : pagesPerHost
    need(
      Number.isInteger(pages) && pages >= 1 && pages <= MOST_PAGES_PER_HOST,
      'a host has 1 to 2^31 - 1 pages',
    )
    firstPage[host + 1] = firstPage[host] + pages
  }
  const [lowest, highest] = Array.isArray(latencyMs) ? latencyMs : [latencyMs, latencyMs]
  need(lowest >= 0 && highest >= lowest, 'latencyMs must be a number or [lowest, highest]')
  const content = { linksPerPage, bytes, crossHostShare: crossing ? crossHostShare : 0, seed, robots }
  return { hosts, firstPage, totalPages: firstPage[hosts], ...content, lowest, highest, gzip, bind, port }
}

/** The address of a host. @param {WebShape} shape @param {number} host */
export function addressOf(shape, host) {
  if (shape.bind === '127.0.0.1') return shape.bind
  const address = FIRST_ADDRESS + host
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`
}

/** The host at an address, or -1. @param {WebShape} shape @param {string} address */
export function hostAt(shape, address) {
  if (shape.bind === '127.0.0.1') return address === shape.bind ? 0 : -1
  const host = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) - FIRST_ADDRESS
  return host >= 0 && host < shape.hosts && addressOf(shape, host) === address ? host : -1
}

/** How many pages a host has. @param {WebShape} shape @param {number} host */
export function pagesOf(shape, host) {
  return shape.firstPage[host + 1] - shape.firstPage[host]
}

/** The path of a page. @param {number} page */
export function pathOf(page) {
  return page === 0 ? '/' : `/p/${page}`
}

/** The page at a path, or -1: each page has one spelling, so `/p/0` and `/p/07` are none. @param {string} path */
export function pageAt(path) {
  if (path === '/') return 0
  return /^\/p\/[1-9]\d{0,9}$/.test(path) ? Number(path.slice(3)) : -1
}

/** How long the server ponders over a page. @param {WebShape} shape @param {number} host @param {number} page */
export function latencyOf({ lowest, highest, seed }, host, page) {
  if (lowest === highest) return lowest
  return lowest + (draw(seed, host, page, FOR_LATENCY) / UINT32) * (highest - lowest)
}

/** Mixes all bits of a 32-bit number. @param {number} n */
export function mix(n) {
  n = Math.imul(n ^ (n >>> 16), 0x7feb352d)
  n = Math.imul(n ^ (n >>> 15), 0x846ca68b)
  return (n ^ (n >>> 16)) >>> 0
}

/**
 * One draw that belongs to a page; `purpose` keeps draws for different ends apart.
 *
 * @param {number} seed @param {number} host @param {number} page @param {number} purpose
 */
export function draw(seed, host, page, purpose) {
  return mix(mix(mix(mix(seed) + purpose) + host) + page)
}
