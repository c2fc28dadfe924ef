/** The texts of `--help`. The option lists are generated from the option tables; every line fits in 80 columns. */

import { VERSION } from '../options/options.js'
import type { OptionSpec } from './arguments.js'
import { CHECK_OPTIONS } from './check/options.js'
import { CRAWL_OPTIONS, type OptionGroup } from './crawl/options.js'
import { wrap } from './format.js'
import { INSPECT_OPTIONS } from './inspect/options.js'
import { DEFAULT_WIDTH } from './screen.js'
import { SIMULATE_OPTIONS, type SimulateGroup } from './simulate/options.js'

export const COMMANDS = ['crawl', 'check', 'inspect', 'simulate', 'help'] as const
/** A command with its own help text. */
export type Topic = 'crawl' | 'check' | 'inspect' | 'simulate'

/** The column in which descriptions start. */
const COLUMN = 26

const GROUP_TITLES: Readonly<Record<OptionGroup, string>> = {
  Start: 'Where to start',
  Follow: 'Which links to follow',
  End: 'When to stop',
  Manners: 'Politeness',
  Network: 'Network',
  Output: 'Output',
}

const GENERAL = `kumo ${VERSION}, a polite web crawler

  kumo crawl URL...       crawl from these URLs
  kumo check URL...       find broken links
  kumo inspect DIR        show the state of a stored crawl
  kumo simulate           forecast how well a revisit schedule would work
  kumo help COMMAND       show all options of a command
  kumo --version          print the version

Examples:

  kumo crawl https://example.com/ --limit 100
  kumo crawl https://example.com/ --json > pages.jsonl
  kumo crawl https://example.com/ --store ./crawl
  kumo check https://example.com/
  kumo inspect ./crawl
  kumo simulate --servers 1000 --change 1h..30d --sockets 5,10,20
`

const CRAWL = `kumo crawl URL... [options]

Crawls from the URLs and prints one line per page to standard output.
Progress and the summary go to standard error. Press Ctrl-C to stop
gracefully, and again to abort.

${groups(CRAWL_OPTIONS, GROUP_TITLES)}
Globs: '/blog/**' matches paths, '*.example.com' matches hosts. * matches
anything except a slash, ** matches anything, {a,b} either of two.

Exit codes: 0 if the crawl finished, was stopped or reached a limit; 1 if it
failed or fetched no page at all; 2 if the command line is invalid.

Examples:

  kumo crawl https://example.com/ --depth 2 --exclude '/login/**'
  kumo crawl https://example.com/ --json --quiet | jq -r .title
  kumo crawl https://example.com/ --store ./crawl --limit-time 1h > /dev/null
  kumo crawl --seeds urls.txt --depth 0 --delay 2s \\
    --user-agent 'MyBot/1.0 (+https://example.com/bot)'
`

const CHECK = `kumo check URL... [options]

Reads the pages of a site from the URLs on and checks every link, also those
that lead out of the site. Prints broken links with every page that contains
them, and redirects, to standard output.

${groups(CHECK_OPTIONS, GROUP_TITLES)}
Exit codes: 0 if every link works; 1 if one is broken or no page was read; 2 if
the command line is invalid.

Examples:

  kumo check https://example.com/
  kumo check http://localhost:8080/ --delay 0 --no-external
  kumo check https://example.com/ --accept 403,429 --json | jq .url
`

const INSPECT = `kumo inspect DIR [options]

Shows the state of the crawl in a folder, without changing it.

${list(Object.entries(INSPECT_OPTIONS))}

Exit codes: 0 on success; 1 if the crawl cannot be read; 2 if the command line
is invalid.

Examples:

  kumo inspect ./crawl
  kumo inspect ./crawl --json | jq .pending
`

const SIMULATE = `kumo simulate --servers N [options]
kumo simulate --from DIR [options]

Forecasts how well a revisit schedule (.refresh) would work, without sending a
single request: it runs the scheduler of a real crawl in virtual time against a
simulated web, and prints one row per number of connections.

${groups<SimulateGroup>(SIMULATE_OPTIONS, {
  World: 'The web to simulate',
  Crawl: 'The crawl',
  Rules: 'The revisit schedule (see docs/refresh.md)',
  Output: 'Output',
})}
Ranges of times: 1h..30d draws from that range, uniformly on a logarithmic
scale; 1d~1.5 is log-normal with median 1d and sigma 1.5.

Columns: needed is the smallest number of sockets that can keep the schedule,
stretch is the factor by which intervals are lengthened to fit, late is the mean
delay between the time a visit is due and its start.

Exit codes: 0 on success; 1 if the folder cannot be read; 2 if the command line
is invalid.

Examples:

  kumo simulate --servers 1000 --pages 50 --change 1d --sockets 20,40,80
  kumo simulate --from ./crawl --sockets 20,40 --aim fresh --svg chart.svg
`

/** The help text of a command, or the general one. */
export function helpText(topic: Topic | undefined): string {
  return topic === undefined
    ? GENERAL
    : { crawl: CRAWL, check: CHECK, inspect: INSPECT, simulate: SIMULATE }[topic]
}

function groups<G extends string = OptionGroup>(
  all: Readonly<Record<string, OptionSpec & { readonly group: G }>>,
  titles: Readonly<Record<G, string>>,
): string {
  const options = Object.entries(all)
  return Object.entries<string>(titles)
    .map(([group, title]) => `${title}:\n${list(options.filter(([, option]) => option.group === group))}\n`)
    .join('\n')
}

function list(options: readonly (readonly [name: string, option: OptionSpec])[]): string {
  return options.flatMap(([name, option]) => entry(name, option)).join('\n')
}

function entry(name: string, { short, value, help }: OptionSpec): string[] {
  const left = `  ${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`
  const [first = '', ...more] = wrap(help, DEFAULT_WIDTH, ' '.repeat(COLUMN))
  return [left.padEnd(COLUMN) + first.trimStart(), ...more]
}
