/** Every option of `kumo simulate`. */

import type { OptionSpec } from '../arguments.js'

export interface SimulateOption extends OptionSpec {
  readonly group: SimulateGroup
}

export type SimulateGroup = 'World' | 'Crawl' | 'Rules' | 'Output'

/** What is simulated if nothing else is said. */
export const USUAL = { pages: '100', change: '1d', download: '1s', sockets: '100', days: '30', delay: '1s' }

export const SIMULATE_OPTIONS: Readonly<Record<string, SimulateOption>> = {
  from: { group: 'World', value: 'DIR', help: 'the pages that the crawl in this folder has learned of' },
  servers: { group: 'World', value: 'N', help: 'or so many servers that are made up' },
  pages: { group: 'World', value: 'N', help: `pages on each (default ${USUAL.pages})` },
  change: {
    group: 'World',
    value: 'TIME',
    help: `from a change of a page to the next: 1d (default), or 1h..30d, or 1d~1.5 (see below)`,
  },
  download: { group: 'World', value: 'TIME', help: `mean time of a server's downloads; as --change` },
  seed: { group: 'World', value: 'N', help: 'another world, other chances (default 1)' },

  sockets: {
    group: 'Crawl',
    value: 'LIST',
    help: `visits at the same time: 20,40,80 compares three (default ${USUAL.sockets})`,
  },
  days: { group: 'Crawl', value: 'N', help: `days that count (default ${USUAL.days})` },
  learn: {
    group: 'Crawl',
    value: 'N',
    help: 'days before them, in which pages become known (default a third of --days)',
  },
  delay: {
    group: 'Crawl',
    value: 'TIME',
    help: `rest of a server between two visits (default ${USUAL.delay})`,
  },

  min: { group: 'Rules', value: 'TIME', help: 'shortest interval between visits to a page (default 15m)' },
  max: { group: 'Rules', value: 'TIME', help: 'longest (default 30d)' },
  first: { group: 'Rules', value: 'TIME', help: 'while nothing is known of the page (default 1d)' },
  target: { group: 'Rules', value: 'SHARE', help: 'of changes that are to be caught (default 0.6)' },
  aim: { group: 'Rules', value: 'WHAT', help: 'archive: catch changes (default); fresh: be up to date' },
  policy: {
    group: 'Rules',
    value: 'NAME',
    help: 'which server goes first: auto (default), edf, freq, fcfs, rm, sjf',
  },
  share: { group: 'Rules', value: 'SHARE', help: 'of sockets that known pages may take (default 0.9)' },

  svg: { group: 'Output', value: 'FILE', help: 'draw a chart as well' },
  json: { group: 'Output', help: 'a line of JSON for each number of sockets' },
  help: { group: 'Output', short: 'h', help: 'this text' },
}
