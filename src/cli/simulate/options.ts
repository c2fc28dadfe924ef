/** Every option of `kumo simulate`. */

import type { OptionSpec } from '../arguments.js'

export interface SimulateOption extends OptionSpec {
  readonly group: SimulateGroup
}

export type SimulateGroup = 'World' | 'Crawl' | 'Rules' | 'Output'

/** The defaults. */
export const DEFAULTS = {
  pages: '100',
  change: '1d',
  download: '1s',
  sockets: '100',
  days: '30',
  delay: '1s',
}

export const SIMULATE_OPTIONS: Readonly<Record<string, SimulateOption>> = {
  from: { group: 'World', value: 'DIR', help: 'the pages known to the crawl in this folder' },
  servers: { group: 'World', value: 'N', help: 'or N made-up servers' },
  pages: { group: 'World', value: 'N', help: `pages per server (default ${DEFAULTS.pages})` },
  change: {
    group: 'World',
    value: 'TIME',
    help: `mean time between changes of a page: 1d (default), or 1h..30d, or 1d~1.5 (see below)`,
  },
  download: { group: 'World', value: 'TIME', help: `mean download time of a server; same forms as --change` },
  seed: { group: 'World', value: 'N', help: 'seed of the random numbers (default 1)' },

  sockets: {
    group: 'Crawl',
    value: 'LIST',
    help: `concurrent connections; 20,40,80 compares three values (default ${DEFAULTS.sockets})`,
  },
  days: { group: 'Crawl', value: 'N', help: `days to measure (default ${DEFAULTS.days})` },
  learn: {
    group: 'Crawl',
    value: 'N',
    help: 'days before that, to discover pages and learn how often they change (default a third of --days)',
  },
  delay: {
    group: 'Crawl',
    value: 'TIME',
    help: `pause between two visits to a server (default ${DEFAULTS.delay})`,
  },

  min: { group: 'Rules', value: 'TIME', help: 'shortest interval between visits to a page (default 15m)' },
  max: { group: 'Rules', value: 'TIME', help: 'longest interval (default 30d)' },
  first: { group: 'Rules', value: 'TIME', help: 'interval for a page with no history yet (default 1d)' },
  target: { group: 'Rules', value: 'SHARE', help: 'share of changes to catch (default 0.6)' },
  aim: {
    group: 'Rules',
    value: 'AIM',
    help: 'archive: catch changes (default); fresh: keep copies up to date',
  },
  policy: {
    group: 'Rules',
    value: 'NAME',
    help: 'which server to visit first: auto (default), edf, freq, fcfs, rm, sjf',
  },
  share: { group: 'Rules', value: 'SHARE', help: 'share of sockets for revisits (default 0.9)' },

  svg: { group: 'Output', value: 'FILE', help: 'also draw a chart' },
  json: { group: 'Output', help: 'print one line of JSON per number of sockets' },
  help: { group: 'Output', short: 'h', help: 'show this help' },
}
