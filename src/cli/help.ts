/** What `--help` says. The lists of options are made from their tables; everything fits into 80 columns. */

import { VERSION } from '../options/options.js'
import type { OptionSpec } from './arguments.js'
import { CRAWL_OPTIONS, type OptionGroup } from './crawl/options.js'
import { wrap } from './format.js'
import { INSPECT_OPTIONS } from './inspect/options.js'
import { USUAL_WIDTH } from './screen.js'
import { SIMULATE_OPTIONS, type SimulateGroup } from './simulate/options.js'

export const COMMANDS = ['crawl', 'inspect', 'simulate', 'help'] as const
/** A command that has a help text of its own. */
export type Topic = 'crawl' | 'inspect' | 'simulate'

/** Where explanations begin. */
const COLUMN = 26

const GENERAL = `kumo ${VERSION}, a polite crawler

  kumo crawl URL...       crawl from these URLs
  kumo inspect DIR        tell how the crawl in a folder stands
  kumo simulate           tell what visiting pages again would come to
  kumo help COMMAND       all options of a command
  kumo --version

Examples:

  kumo crawl https://example.com/ --limit 100
  kumo crawl https://example.com/ --json > pages.jsonl
  kumo crawl https://example.com/ --store ./crawl
  kumo inspect ./crawl
  kumo simulate --servers 1000 --change 1h..30d --sockets 5,10,20
`

const CRAWL = `kumo crawl URL... [options]

Crawls from the URLs and writes a line for each page to standard output;
how it stands and what it came to go to standard error. Ctrl-C stops it
gently, a second one aborts.

${groups(CRAWL_OPTIONS, {
  Start: 'Where to start',
  Follow: 'Which links are followed',
  End: 'When to end',
  Manners: 'Manners',
  Network: 'Getting there',
  Output: 'Output',
})}
A glob: '/blog/**' is compared with paths, '*.example.com' with hosts; * is
anything without a slash, ** anything, {a,b} a choice.

Exit codes: 0 done, stopped or a limit reached; 1 the crawl failed, or not a
single page came back; 2 misuse.

Examples:

  kumo crawl https://example.com/ --depth 2 --exclude '/login/**'
  kumo crawl https://example.com/ --json --quiet | jq -r .title
  kumo crawl https://example.com/ --store ./crawl --limit-time 1h > /dev/null
  kumo crawl --seeds urls.txt --depth 0 --delay 2s \\
    --user-agent 'MyBot/1.0 (+https://example.com/bot)'
`

const INSPECT = `kumo inspect DIR [options]

Tells how the crawl in a folder stands, without changing it.

${list(Object.entries(INSPECT_OPTIONS))}

Exit codes: 0 told; 1 it could not be read; 2 misuse.

Examples:

  kumo inspect ./crawl
  kumo inspect ./crawl --json | jq .pending
`

const SIMULATE = `kumo simulate --servers N [options]
kumo simulate --from DIR [options]

Tells what visiting pages again (.refresh) would come to, without visiting any:
it runs the schedule of a real crawl in virtual time, on a made-up web. A row
for each number of sockets.

${groups<SimulateGroup>(SIMULATE_OPTIONS, {
  World: 'What there is to visit',
  Crawl: 'How it is crawled',
  Rules: 'How pages are visited again; see docs/refresh.md',
  Output: 'Output',
})}
Times that differ: 1h..30d is anything in between, each power of ten as likely;
1d~1.5 is log-normal with that median and that deviation of logarithms.

Columns: needed is the least number of sockets for what is wished; stretch is
by how much intervals are lengthened to fit; late is how long after its time a
visit begins.

Exit codes: 0 told; 1 the folder could not be read; 2 misuse.

Examples:

  kumo simulate --servers 1000 --pages 50 --change 1d --sockets 20,40,80
  kumo simulate --from ./crawl --sockets 20,40 --aim fresh --svg chart.svg
`

/** The text about a command, or about all of them. */
export function helpText(topic: Topic | undefined): string {
  return topic === undefined ? GENERAL : { crawl: CRAWL, inspect: INSPECT, simulate: SIMULATE }[topic]
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
  const [first = '', ...more] = wrap(help, USUAL_WIDTH, ' '.repeat(COLUMN))
  return [left.padEnd(COLUMN) + first.trimStart(), ...more]
}
