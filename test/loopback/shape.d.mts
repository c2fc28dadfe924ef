/** Declares shape.mjs, which stays plain JavaScript for the forked server. */

import type { WebOptions } from './web.js'

/** The options with their defaults, and where each host's pages begin in the count of all pages. */
export interface WebShape {
  hosts: number
  /** `firstPage[host] + page` is unique in the web; the last entry is the number of all pages. */
  firstPage: Float64Array
  totalPages: number
  linksPerPage: number
  bytes: number
  /** 0 where there is only one host. */
  crossHostShare: number
  seed: number
  robots: string | undefined
  /** Milliseconds of latency, from … */
  lowest: number
  /** … to. */
  highest: number
  gzip: boolean
  bind: '0.0.0.0' | '127.0.0.1'
  port: number
}

export const UINT32: number
export function shapeOf(options: WebOptions): WebShape
export function addressOf(shape: WebShape, host: number): string
export function hostAt(shape: WebShape, address: string): number
export function pagesOf(shape: WebShape, host: number): number
export function pathOf(page: number): string
export function pageAt(path: string): number
export function latencyOf(shape: WebShape, host: number, page: number): number
export function mix(n: number): number
export function draw(seed: number, host: number, page: number, purpose: number): number
