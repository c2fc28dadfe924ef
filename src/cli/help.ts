/** The texts of `--help`. The option lists are generated from the option tables; every line fits in 80 columns. */

import { VERSION } from '../options/options.js'
import type { OptionSpec } from './arguments.js'
import { CHECK_OPTIONS } from './check/options.js'
import { CRAWL_OPTIONS, type OptionGroup } from './crawl/options.js'
import { FEEDS_OPTIONS } from './feeds/options.js'
import { wrap } from './format.js'
import { INSPECT_OPTIONS } from './inspect/options.js'
import { DEFAULT_WIDTH } from './screen.js'

import { INDEX_OPTIONS, SEARCH_OPTIONS, SERVE_OPTIONS } from './search/options.js'

import { type FeedsGroup, SIMULATE_FEEDS_OPTIONS } from './simulate/feeds-options.js'

import { SIMULATE_OPTIONS, type SimulateGroup } from './simulate/options.js'
import { WARC_OPTIONS } from './warc/options.js'

export const COMMANDS = [
  'crawl',
  'check',
  'feeds',
  'index',
  'search',
  'serve',
  'inspect',
  'simulate',
  'warc',
  'help',
] as const
/** A command with its own help text. */
export type Topic = Exclude<(typeof COMMANDS)[number], 'help'>

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
  kumo feeds URL...       follow feeds and print new articles
  kumo index URL...       make the pages of a site searchable
  kumo search DIR WORDS   search an index
  kumo serve DIR          serve a search page for an index
  kumo inspect DIR        show the state of a stored crawl
  kumo simulate           forecast how well a revisit schedule would work
  kumo warc ACTION PATH   list, verify or extract records of an archive
  kumo help COMMAND       show all options of a command
  kumo --version          print the version

Examples:

  kumo crawl https://example.com/ --limit 100
  kumo crawl https://example.com/ --json > pages.jsonl
  kumo crawl https://example.com/ --store ./crawl
  kumo check https://example.com/
  kumo feeds https://example.com/feed.xml --store ./feeds
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

const FEEDS = `kumo feeds URL... [options]

Follows feeds and prints one line per new article to standard output. A URL
may be a feed, or a site whose feeds are then found. It polls each feed when
that is worth most, and goes on until you press Ctrl-C. With --store, the next
run prints what is new since then, also after a crash.

${groups(FEEDS_OPTIONS, { ...GROUP_TITLES, Follow: 'Which feeds to poll, and when' })}
Exit codes: 0 if a feed was followed; 1 if none was found; 2 if the command line
is invalid.

Examples:

  kumo feeds https://example.com/feed.xml --store ./feeds --budget 500/day
  kumo feeds https://example.com/ --store ./feeds --once --json | jq -r .url
  kumo feeds --seeds feeds.txt --store ./feeds --lost 0.5% --aim fresh
`

const INDEX = `kumo index URL... [options]
kumo index FOLDER --as URL [options]

Crawls from the URLs and makes the pages searchable, or indexes the HTML and
text files of a folder as if they were served below a URL. An index that is
there already is updated.

${groups(INDEX_OPTIONS, GROUP_TITLES)}
Exit codes: 0 on success; 1 if nothing could be indexed; 2 if the command line
is invalid.

Examples:

  kumo index https://example.com/ --limit 1000
  kumo index ./public --as https://example.com/ --out ./index
`

const SEARCH = `kumo search DIR WORDS... [options]

Searches an index and prints the best hits to standard output. Queries may have
"exact phrases", -words to leave out, title:word, site:example.com, lang:ja,
after:2026-01-01 and prefix*.

${list(Object.entries(SEARCH_OPTIONS))}

Exit codes: 0 if something was found; 1 if not, or if the index cannot be read;
2 if the command line is invalid.

Examples:

  kumo search ./index 'green tea'
  kumo search ./index '"green tea" -coffee' --json | jq .hits[].url
`

const SERVE = `kumo serve DIR [options]

Serves a search page for an index, and its results as JSON below /search.json.
Several folders, and addresses of other 'kumo serve', are searched as one.
Press Ctrl-C to end it.

${list(Object.entries(SERVE_OPTIONS))}

Exit codes: 0 after Ctrl-C; 1 if the index cannot be read; 2 if the command line
is invalid.

Examples:

  kumo serve ./index
  kumo serve ./index --port 3000
  kumo serve ./index http://node2:8080/
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

const WARC = `kumo warc list PATH [options]
kumo warc verify PATH [options]
kumo warc extract PATH URL [options]

Reads a WARC or ARC file, or all of them in a folder. list prints one line for
each record, verify prints what is damaged or has a wrong digest, and extract
writes the body of a page to standard output.

${list(Object.entries(WARC_OPTIONS))}

Exit codes: 0 on success; 1 if something is damaged, or the page is not in the
archive; 2 if the command line is invalid.

Examples:

  kumo warc list ./archive --type response
  kumo warc verify ./archive
  kumo warc extract ./archive https://example.com/ > page.html
`

const SIMULATE = `kumo simulate --servers N [options]
kumo simulate --from DIR [options]
kumo simulate feeds ... (see 'kumo simulate feeds --help')

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

/** `kumo simulate feeds --help`. */
export const SIMULATE_FEEDS = `kumo simulate feeds --feeds N [options]
kumo simulate feeds --from DIR [options]
kumo simulate feeds --history FILE [options]

Forecasts how many articles a budget of polls would lose (.feeds), without
sending a single request: it runs the scheduler of a real crawl in virtual time
against simulated feeds, and prints one row per budget.

${groups<FeedsGroup>(SIMULATE_FEEDS_OPTIONS, {
  World: 'The feeds to simulate',
  Polls: 'The polls (see docs/feeds-planning.md)',
  Output: 'Output',
})}
Columns: lost is the share of articles that scrolled off unseen, estimated what
a crawl would believe it is, futile the share of polls that brought nothing
new, delay the mean time from publication to poll.

Exit codes: 0 on success; 1 if the folder cannot be read; 2 if the command line
is invalid.

Examples:

  kumo simulate feeds --feeds 1000 --budget 200/day,400/day,800/day
  kumo simulate feeds --history posts.csv --lost 1%,0.1% --svg front.svg
`

/** The help text of a command, or the general one. */
export function helpText(topic: Topic | undefined): string {
  if (topic === undefined) return GENERAL
  return {
    crawl: CRAWL,
    check: CHECK,
    feeds: FEEDS,
    index: INDEX,
    search: SEARCH,
    serve: SERVE,
    inspect: INSPECT,
    simulate: SIMULATE,
    warc: WARC,
  }[topic]
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
