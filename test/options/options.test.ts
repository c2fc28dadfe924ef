/** An invalid option throws at its line: the message names the option, the value and what is allowed. */

import { availableParallelism } from 'node:os'
import { all, any, Crawler, KumoError, memory, not, pathPrefix, sameSite } from 'kumo'
import { httpFetcher } from 'kumo/adapters'
import { describe, expect, test } from 'vitest'
import { show } from '../../src/errors.js'
import { HTTP_DEFAULTS } from '../../src/fetch/http/defaults.js'
import { headers, record } from '../../src/options/check.js'
import { DEFAULTS } from '../../src/options/options.js'

/** Options as a user of plain JavaScript might write them. */
// biome-ignore lint/suspicious/noExplicitAny: mistakes are the subject.
type Loose = any

const crawler: Loose = new Crawler().seeds('https://example.com/')

type Mistake = [written: string, make: () => unknown, message: (string | RegExp)[]]

const WHOLE = 'a whole number'
const DURATION = "'250ms', '5s', '2m', '1h'"

const mistakes: Mistake[] = [
  [
    'new Crawler({ … })',
    () => new (Crawler as Loose)({ concurrency: 5 }),
    ['new Crawler()', '{"concurrency":5}', '.seeds('],
  ],

  ['concurrency(0)', () => crawler.concurrency(0), ['concurrency: got 0;', WHOLE, '1 to 100000']],
  ['concurrency(-1)', () => crawler.concurrency(-1), ['concurrency: got -1;', WHOLE]],
  ['concurrency(1.5)', () => crawler.concurrency(1.5), ['concurrency: got 1.5;', WHOLE]],
  ['concurrency(NaN)', () => crawler.concurrency(Number.NaN), ['concurrency: got NaN;', WHOLE]],
  [
    'concurrency(Infinity)',
    () => crawler.concurrency(Number.POSITIVE_INFINITY),
    ['concurrency: got Infinity;'],
  ],
  ["concurrency('10')", () => crawler.concurrency('10'), ["concurrency: got '10';", WHOLE]],
  ['concurrency()', () => crawler.concurrency(), ['concurrency: got undefined;', WHOLE]],
  ['concurrency(10n)', () => crawler.concurrency(10n), ['concurrency: got 10;', WHOLE]],

  ['workers(-1)', () => crawler.workers(-1), ['workers: got -1;', WHOLE, "0 to 1024, or 'auto'"]],
  ['workers(1025)', () => crawler.workers(1025), ['workers: got 1025;', WHOLE]],
  ['workers(1.5)', () => crawler.workers(1.5), ['workers: got 1.5;', WHOLE]],
  ["workers('all')", () => crawler.workers('all'), ["workers: got 'all';", "'auto'"]],
  ['workers()', () => crawler.workers(), ['workers: got undefined;', "'auto'"]],
  ['workers(2, { dog })', () => crawler.workers(2, { dog: 1 }), ["workers: got 'dog';", 'watchdog, balance']],
  [
    'workers(2, { watchdog: 0 })',
    () => crawler.workers(2, { watchdog: 0 }),
    ['workers.watchdog: got 0;', DURATION, 'or false'],
  ],
  [
    'workers(2, { watchdog: true })',
    () => crawler.workers(2, { watchdog: true }),
    ['workers.watchdog: got true;'],
  ],
  ['workers(2, { balance: 1 })', () => crawler.workers(2, { balance: 1 }), ['workers.balance: got 1;']],

  ['delay(-1)', () => crawler.delay(-1), ['delay: got -1;', 'milliseconds', DURATION]],
  ['delay(NaN)', () => crawler.delay(Number.NaN), ['delay: got NaN;', DURATION]],
  ["delay('')", () => crawler.delay(''), ["delay: got '';", DURATION]],
  ["delay('1')", () => crawler.delay('1'), ["delay: got '1';", DURATION]],
  ["delay('1 sec')", () => crawler.delay('1 sec'), ["delay: got '1 sec';", DURATION]],
  ["delay('-1s')", () => crawler.delay('-1s'), ["delay: got '-1s';", DURATION]],
  ['delay(null)', () => crawler.delay(null), ['delay: got null;', DURATION]],
  ['delay({ ms: 1 })', () => crawler.delay({ ms: 1 }), ['delay: got {"ms":1};', DURATION]],

  [
    "limit({ bandwidth: '50Mb' })",
    () => crawler.limit({ bandwidth: '50Mb' }),
    ["limit.bandwidth: got '50Mb';", "'50Mbps' or '6MB/s'"],
  ],
  [
    'limit({ bandwidth: 50 })',
    () => crawler.limit({ bandwidth: 50 }),
    ['limit.bandwidth: got 50;', "'50Mbps' or '6MB/s'"],
  ],
  ['connections(4)', () => crawler.connections(4), ['connections: got 4;', 'most, keepFor', '{ most: 4 }']],
  [
    'connections({ most: 0 })',
    () => crawler.connections({ most: 0 }),
    ['connections.most: got 0;', '1 to 100000'],
  ],
  ['connections({ keepFor: 0 })', () => crawler.connections({ keepFor: 0 }), ['connections.keepFor: got 0;']],
  ['perHost(4)', () => crawler.perHost(4), ['perHost: got 4;', 'connections, growAt']],
  [
    'perHost({ connection })',
    () => crawler.perHost({ connection: 4 }),
    ["perHost: got 'connection';", 'the keys connections, growAt'],
  ],
  [
    'perHost({ connections: 0 })',
    () => crawler.perHost({ connections: 0 }),
    ['perHost.connections: got 0;', '1 to 1024'],
  ],
  [
    'perHost({ growAt: 0.5 })',
    () => crawler.perHost({ growAt: 0.5 }),
    ['perHost.growAt: got 0.5;', '1 or more'],
  ],
  ['perHost([])', () => crawler.perHost([]), ['perHost: got [];']],

  ["userAgent('')", () => crawler.userAgent(''), ["userAgent: got '';", 'not empty']],
  ["userAgent('  ')", () => crawler.userAgent('  '), ["userAgent: got '  ';", 'not empty']],
  ['userAgent(1)', () => crawler.userAgent(1), ['userAgent: got 1;']],
  ['userAgent with a line break', () => crawler.userAgent('a\r\nb'), ['userAgent: got', 'one line']],
  ["userAgent('蜘蛛')", () => crawler.userAgent('蜘蛛'), ["userAgent: got '蜘蛛';", 'Latin-1']],

  ['headers(null)', () => crawler.headers(null), ['headers: got null;', 'an object of names and values']],
  ['headers([…])', () => crawler.headers([['a', 'b']]), ['headers: got [["a","b"]];']],
  [
    'headers(new Headers())',
    () => crawler.headers(new Headers({ a: 'b' })),
    ['headers: got a Headers;', 'an object of names'],
  ],
  [
    "headers({ 'a b': … })",
    () => crawler.headers({ 'a b': 'x' }),
    ["headers: got 'a b';", 'names of headers'],
  ],
  ['headers({ a: 1 })', () => crawler.headers({ a: 1 }), ['headers.a: got 1;', 'one line']],
  ['headers with a line break', () => crawler.headers({ a: 'x\ny: z' }), ['headers.a: got', 'one line']],
  [
    "headers({ 'User-Agent' })",
    () => crawler.headers({ 'User-Agent': 'x' }),
    ['headers:', 'User-Agent', 'use .userAgent()'],
  ],
  ['headers({ Host })', () => crawler.headers({ Host: 'x' }), ['headers:', 'Host', 'follows from the URL']],

  [
    "scope('sites')",
    () => crawler.scope('sites'),
    ["scope: got 'sites';", "'site', 'host', 'origin', 'path', 'all'", "glob('sites')"],
  ],
  ["scope('Site')", () => crawler.scope('Site'), ["scope: got 'Site';", "'site'"]],
  ["scope('same-site')", () => crawler.scope('same-site'), ["scope: got 'same-site';", "'site'"]],
  ["scope('münchen')", () => crawler.scope('münchen'), ["glob('münchen')"]],
  ["include('sites')", () => crawler.include('sites'), ["include: got 'sites';", "'site', 'host'"]],
  [
    "exclude('login')",
    () => crawler.exclude('login'),
    ["exclude: got 'login';", "for a path: '/login'", "glob('login')"],
  ],
  ["any('hosts')", () => any('hosts'), ["any(): got 'hosts';", "'site', 'host'"]],
  ["not(all('b-c'))", () => not(all('b-c')), ["all(): got 'b-c';", "glob('b-c')"]],
  ["scope('')", () => crawler.scope(''), ['scope:', '""', '/blog/**']],
  ['scope()', () => crawler.scope(), ['scope: got undefined;', "'site', 'host'"]],
  [
    'scope(undefined)',
    () => crawler.scope(undefined),
    ['scope: got undefined;', "'site', 'host'", 'sameSite()'],
  ],
  ['scope(sameSite)', () => crawler.scope(sameSite), ['scope:', 'sameSite()', 'parentheses']],
  [
    'scope([…])',
    () => crawler.scope(['site', '/a']),
    ['scope: got an array', 'all() or any()', "'site', 'host'"],
  ],
  ['scope({})', () => crawler.scope({}), ['scope:', 'without name and start()']],
  ["scope('ftp://x/')", () => crawler.scope('ftp://x/'), ['scope:', 'ftp://x/', 'http and https']],
  ['include(5)', () => crawler.include(5), ['include:', '5', 'a glob']],
  ["include('{')", () => crawler.include('{'), ['include:', '"{"']],
  ["exclude('/a#b')", () => crawler.exclude('/a#b'), ['exclude:', '#', 'fragment']],
  ['exclude(null)', () => crawler.exclude(null), ['exclude:', 'null']],

  ['depth(-1)', () => crawler.depth(-1), ['depth: got -1;', 'a whole number, 0 or more, or Infinity']],
  ['depth(NaN)', () => crawler.depth(Number.NaN), ['depth: got NaN;']],
  ["depth('3')", () => crawler.depth('3'), ["depth: got '3';"]],

  ['limit(100)', () => crawler.limit(100), ['limit: got 100;', 'pages, bytes, time, pagesPerHost']],
  [
    'limit({ page })',
    () => crawler.limit({ page: 10 }),
    ["limit: got 'page';", 'the keys pages, bytes, time, pagesPerHost'],
  ],
  ['delay(0.5)', () => crawler.delay(0.5), ['delay: got 0.5, which means 0.5 milliseconds', "'0.5s'"]],
  ['delay(1)', () => crawler.delay(1), ['delay: got 1,', "did you mean '1s'?", "write '1ms'"]],
  ["delay('1s', { max: 9 })", () => crawler.delay('1s', { max: 9 }), ['delay.max: got 9,', "'9s'"]],
  ['timeout(30)', () => crawler.timeout(30), ['timeout: got 30,', "did you mean '30s'?", "'30ms'"]],
  ['timeout({ hook: 60 })', () => crawler.timeout({ hook: 60 }), ['timeout.hook: got 60,', "'60s'"]],
  ['limit({ time: 5 })', () => crawler.limit({ time: 5 }), ['limit.time: got 5,', "'5s'"]],
  ['retries({ backoff: 2 })', () => crawler.retries({ backoff: 2 }), ['retries.backoff: got 2,', "'2s'"]],
  ['refresh({ min: 1 })', () => crawler.refresh({ min: 1 }), ['refresh.min: got 1,', "'1s'"]],
  ['refresh({ until: 9 })', () => crawler.refresh({ until: 9 }), ['refresh.until: got 9,', "'9s'"]],
  ['robots({ maxDelay: 5 })', () => crawler.robots({ maxDelay: 5 }), ['robots.maxDelay: got 5,', "'5s'"]],
  [
    'workers(2, { watchdog: 5 })',
    () => crawler.workers(2, { watchdog: 5 }),
    ['workers.watchdog: got 5,', "'5s'"],
  ],
  ["store('./crawl')", () => crawler.store('./crawl'), ["did you mean .store(level('./crawl'))"]],
  ["store('memory')", () => crawler.store('memory'), ['did you mean .store(memory())']],
  ['store(memory)', () => crawler.store(memory), ['did you mean .store(memory())']],
  ["dns('192.0.2.53')", () => crawler.dns('192.0.2.53'), [".dns({ servers: ['192.0.2.53'] })"]],
  ['limit(100)', () => crawler.limit(100), ['limit: got 100;', '.limit({ pages: 100 })']],
  ['perHost(4)', () => crawler.perHost(4), ['perHost: got 4;', '.perHost({ connections: 4 })']],
  ["use('./hook.js')", () => crawler.use('./hook.js'), ["new URL('./hook.js', import.meta.url)"]],
  [
    "extract({ a: 'h1' })",
    () => crawler.extract({ a: 'h1' }),
    ["extract.a: got 'h1';", "select({ a: 'h1' })"],
  ],
  ["exclude('*.pdf')", () => crawler.exclude('*.pdf'), ['exclude: ', '"/**/*.pdf"']],
  ["include('*.{jpg,PNG}')", () => crawler.include('*.{jpg,PNG}'), ['include: ', '"/**/*.{jpg,PNG}"']],
  ["scope('https://*.html')", () => crawler.scope('https://*.html'), ['scope: ', '"/**/*.html"']],
  ["block('login.php')", () => crawler.block('login.php'), ['block: ', '"/**/login.php"']],
  ["seeds('example.com')", () => crawler.seeds('example.com'), ['did you mean https://example.com/']],
  [
    "seeds('localhost:3000/a?b=1')",
    () => crawler.seeds('localhost:3000/a?b=1'),
    ['did you mean http://localhost:3000/a?b=1'],
  ],
  ['limit({ pages: 0 })', () => crawler.limit({ pages: 0 }), ['limit.pages: got 0;', '1 or more']],
  ['limit({ pages: NaN })', () => crawler.limit({ pages: Number.NaN }), ['limit.pages: got NaN;']],
  ['limit({ pages: null })', () => crawler.limit({ pages: null }), ['limit.pages: got null;']],
  ["limit({ bytes: '1MB' })", () => crawler.limit({ bytes: '1MB' }), ["limit.bytes: got '1MB';", WHOLE]],
  ["limit({ time: 'soon' })", () => crawler.limit({ time: 'soon' }), ["limit.time: got 'soon';", DURATION]],
  [
    'limit({ time: 0 })',
    () => crawler.limit({ time: 0 }),
    ['limit.time: got 0;', 'at least 1', 'or Infinity'],
  ],
  ['limit({ pagesPerHost: -3 })', () => crawler.limit({ pagesPerHost: -3 }), ['limit.pagesPerHost: got -3;']],

  ['timeout(0)', () => crawler.timeout(0), ['timeout: got 0;', 'at least 1']],
  ["timeout('30')", () => crawler.timeout('30'), ["timeout: got '30';", DURATION]],
  ['timeout(null)', () => crawler.timeout(null), ['timeout: got null;', DURATION]],
  [
    'timeout({ fetsh })',
    () => crawler.timeout({ fetsh: 1 }),
    ["timeout: got 'fetsh';", 'the keys fetch, extract, hook'],
  ],
  ['timeout({ hook: -1 })', () => crawler.timeout({ hook: -1 }), ['timeout.hook: got -1;', DURATION]],

  ['maxBodyBytes(0)', () => crawler.maxBodyBytes(0), ['maxBodyBytes: got 0;', '1 or more']],
  [
    "maxBodyBytes(1, { truncate: 'yes' })",
    () => crawler.maxBodyBytes(1, { truncate: 'yes' }),
    ["maxBodyBytes.truncate: got 'yes';", 'true or false'],
  ],
  [
    'maxBodyBytes(1, { cut: true })',
    () => crawler.maxBodyBytes(1, { cut: true }),
    ["maxBodyBytes: got 'cut';", 'the keys truncate'],
  ],
  ["maxBodyBytes('8mb')", () => crawler.maxBodyBytes('8mb'), ["maxBodyBytes: got '8mb';"]],
  ['retryFailed(1)', () => crawler.retryFailed(1), ['retryFailed: got 1;', 'true or false']],
  ['retries(-1)', () => crawler.retries(-1), ['retries: got -1;', '0 or more']],
  ['retries(Infinity)', () => crawler.retries(Number.POSITIVE_INFINITY), ['retries: got Infinity;']],
  ["robots('no')", () => crawler.robots('no'), ["robots: got 'no';", 'true or false']],
  ['robots()', () => crawler.robots(), ['robots: got undefined;', 'true or false']],
  [
    'robots({ obay })',
    () => crawler.robots({ obay: false }),
    ["robots: got 'obay';", 'obey, nofollow, maxDelay'],
  ],
  ['robots({ obey: 1 })', () => crawler.robots({ obey: 1 }), ['robots.obey: got 1;', 'true or false']],
  ['robots({ maxDelay })', () => crawler.robots({ maxDelay: 'x' }), ["robots.maxDelay: got 'x';", DURATION]],
  ['retries({ time })', () => crawler.retries({ time: 1 }), ["retries: got 'time';", 'times, backoff']],
  [
    'retries({ statuses })',
    () => crawler.retries({ statuses: [200] }),
    ['retries.statuses: got [200];', '400 to 599'],
  ],
  [
    'retries({ when })',
    () => crawler.retries({ when: 503 }),
    ['retries.when: got 503;', 'a function of failure and request'],
  ],
  ['retries({ backoff: 0 })', () => crawler.retries({ backoff: 0 }), ['retries.backoff: got 0;', DURATION]],
  [
    'retries({ cooldownAfter: 0 })',
    () => crawler.retries({ cooldownAfter: 0 }),
    ['retries.cooldownAfter: got 0;'],
  ],
  ['redirects(-1)', () => crawler.redirects(-1), ['redirects: got -1;', '0 to 100']],
  ["delay('1s', { adaptiv })", () => crawler.delay('1s', { adaptiv: 2 }), ["delay: got 'adaptiv';"]],
  [
    "delay('1s', { adaptive: 0 })",
    () => crawler.delay('1s', { adaptive: 0 }),
    ['delay.adaptive: got 0;', 'above 0'],
  ],
  ['block(5)', () => crawler.block(5), ['block: ', '5']],
  ["block('xn--')", () => crawler.block('xn--'), ['block: ', 'host name']],
  ['urls({ drops })', () => crawler.urls({ drops: [] }), ["urls: got 'drops';", 'drop, canonical']],
  [
    "urls({ drop: 'sid' })",
    () => crawler.urls({ drop: 'sid' }),
    ["urls.drop: got 'sid';", 'a list of names'],
  ],
  ['urls({ drop: [5] })', () => crawler.urls({ drop: [5] }), ['urls.drop', '5']],
  ['urls({ canonical })', () => crawler.urls({ canonical: true }), ['urls.canonical: got true;', "'follow'"]],
  ['traps({ depth })', () => crawler.traps({ depth: 3 }), ["traps: got 'depth';", 'pathDepth']],
  ['traps({ pathDepth: 0 })', () => crawler.traps({ pathDepth: 0 }), ['traps', 'pathDepth', '0']],
  ['traps({ linksPerPage: 0 })', () => crawler.traps({ linksPerPage: 0 }), ['traps.linksPerPage: got 0;']],
  ['traps(true)', () => crawler.traps(true), ['traps: got true;']],
  ["sitemaps('yes')", () => crawler.sitemaps('yes'), ["sitemaps: got 'yes';", 'true or false']],
  ['sitemaps({ max })', () => crawler.sitemaps({ max: 1 }), ["sitemaps: got 'max';", 'urlsPerHost']],
  ["from('me')", () => crawler.from('me'), ["from: got 'me';", 'e-mail']],
  [
    "auth('example.com')",
    () => crawler.auth('example.com', { username: 'a', password: 'b' }),
    ['auth', 'origin'],
  ],
  [
    'auth without a password',
    () => crawler.auth('https://example.com', { username: 'a' }),
    ['auth', 'password', 'a text'],
  ],
  ['cookies(1)', () => crawler.cookies(1), ['cookies: got 1;', 'true or false']],
  [
    "proxy('proxy:3128')",
    () => crawler.proxy('proxy:3128'),
    ['proxy', 'http://user:password@proxy.example:3128'],
  ],
  ["http2('on')", () => crawler.http2('on'), ["http2: got 'on';"]],
  ['tls({ cas })', () => crawler.tls({ cas: '' }), ["tls: got 'cas';", 'ca, cert, key']],
  ['dns({ server })', () => crawler.dns({ server: '1.1.1.1' }), ["dns: got 'server';", 'servers']],
  ['dns({ servers: [] })', () => crawler.dns({ servers: [] }), ['dns: got', 'resolve()']],
  ['allowPrivate()', () => crawler.allowPrivate(), ['allowPrivate: got undefined;', "'all' alone"]],
  [
    "allowPrivate('all') with others",
    () => crawler.allowPrivate('10.0.0.7', 'all'),
    ["allowPrivate: got 'all';", "'all' alone"],
  ],
  [
    'allowPrivate(URL)',
    () => crawler.allowPrivate('http://10.0.0.1/'),
    ["allowPrivate: got 'http://10.0.0.1/';", 'host names'],
  ],
  ['allowPrivate()', () => crawler.allowPrivate(), ['allowPrivate: got undefined;', "'all'"]],
  [
    "allowPrivate('all', host)",
    () => crawler.allowPrivate('all', '10.0.0.1'),
    ["allowPrivate: got 'all';", "or 'all' alone"],
  ],
  ['limit({ requests: 0 })', () => crawler.limit({ requests: 0 }), ['limit.requests: got 0;']],
  ['limit({ pagesPerSite: 0 })', () => crawler.limit({ pagesPerSite: 0 }), ['limit.pagesPerSite: got 0;']],
  [
    'headers({}, { all })',
    () => crawler.headers({ a: 'b' }, { all: true }),
    ["headers: got 'all';", 'everywhere'],
  ],

  ['store(memory)', () => crawler.store(memory), ['store: got a function;', 'memory()', 'open()']],
  ["store('./dir')", () => crawler.store('./dir'), ["store: got './dir';", 'memory()']],
  [
    'frontier({})',
    () => crawler.frontier({}),
    ['frontier: got {};', 'add(), lease(), settle(), nextDue(), close()'],
  ],
  ['seen(new Set())', () => crawler.seenStore(new Set()), ['seenStore: got a Set;', 'addAll(), close()']],
  ['partitioner(8)', () => crawler.partitioner(8), ['partitioner: got 8;', 'partition()']],
  [
    'partition without a number',
    () => crawler.partitioner({ partition: () => 0 }),
    ['partitioner.partitions: got undefined;', '1 to 65536'],
  ],
  ['fetcher(undefined)', () => crawler.fetcher(undefined), ['fetcher: got undefined;', 'fetch()']],
  ['fetcher({})', () => crawler.fetcher({}), ['fetcher: got {};']],
  ['clock(Date)', () => crawler.clock(Date), ['clock: got a function;', 'now(), wakeAt()']],
  ['random(Math)', () => crawler.random(Math), ['random: got', 'next()']],

  ['extract(5)', () => crawler.extract(5), ['extract: got 5;', 'functions', 'name and extract()']],
  [
    'fetcher(globalThis.fetch)',
    () => crawler.fetcher(globalThis.fetch),
    ['fetcher: got the global fetch function;', 'docs/extending.md'],
  ],

  ['httpFetcher()', () => (httpFetcher as Loose)(), ['httpFetcher: got undefined;', 'userAgent, headers']],
  ['httpFetcher({})', () => (httpFetcher as Loose)({}), ['httpFetcher.userAgent: got undefined;']],
  [
    'httpFetcher({ maxBodySize })',
    () => (httpFetcher as Loose)({ userAgent: 'x', maxBodySize: 5 }),
    ["httpFetcher: got 'maxBodySize';", 'the keys userAgent,', 'maxBodyBytes'],
  ],
  [
    "httpFetcher({ maxBodyBytes: '8mb' })",
    () => (httpFetcher as Loose)({ userAgent: 'x', maxBodyBytes: '8mb' }),
    ["httpFetcher.maxBodyBytes: got '8mb';", 'a number'],
  ],

  ['extract(null)', () => crawler.extract(null), ['extract: got null;']],
  ['extract([])', () => crawler.extract([() => 1]), ['extract: got']],
  [
    "extract({ title: 'h1' })",
    () => crawler.extract({ title: 'h1' }),
    ["extract.title: got 'h1';", 'a function of the page'],
  ],
  [
    'an extractor without a name',
    () => crawler.extract({ mediaTypes: ['a/b'], extract: () => {} }),
    ['extract.name: got undefined;', 'an extractor needs a name'],
  ],
  [
    'an extractor of a class without a name',
    () =>
      crawler.extract(
        new (class {
          extract() {}
        })(),
      ),
    ['extract.name: got undefined;', 'an extractor needs a name'],
  ],
  [
    'mediaTypes as a text',
    () => crawler.extract({ name: 'e', mediaTypes: 'text/html', extract: () => {} }),
    ["extract('e').mediaTypes: got 'text/html';", "['text/html', 'image/*']"],
  ],
  [
    'a media type without a slash',
    () => crawler.extract({ name: 'e', mediaTypes: ['html'], extract: () => {} }),
    ["extract('e').mediaTypes: got 'html';", "['text/html', 'image/*']"],
  ],
  [
    'a media type with a parameter',
    () => crawler.extract({ name: 'e', mediaTypes: ['text/html; charset=utf-8'], extract: () => {} }),
    ["extract('e').mediaTypes: got 'text/html; charset=utf-8';"],
  ],
  [
    'an extractor with a strange open',
    () => crawler.extract({ name: 'e', extract: () => {}, open: 1 }),
    ["extract('e').open: got 1;"],
  ],

  [
    'use(undefined)',
    () => crawler.use(undefined),
    ['use: got undefined;', 'a name', 'page(), failure() or feed()'],
  ],
  ['use(function)', () => crawler.use(() => {}), ['use: got a function;', 'page(), failure() or feed()']],
  [
    'a hook with a misspelt method',
    () => crawler.use({ name: 'h', pages: () => {} }),
    ['use: got', '"name":"h"', 'page(), failure() or feed()'],
  ],
  ['a hook without a name', () => crawler.use({ page: () => {} }), ['use: got {};', 'a name']],
  [
    "a hook's page that is no function",
    () => crawler.use({ name: 'h', page: 'x' }),
    ["use('h').page: got 'x';", 'a function'],
  ],

  [
    "on('pages')",
    () => crawler.on('pages', () => {}),
    [
      "on: event: got 'pages';",
      'page, feed, failure, skip, redirect, progress, feasibility, store, worker, end',
    ],
  ],
  ["on('page')", () => crawler.on('page'), ["on('page'): got undefined;", 'a function']],
  ["on('toString')", () => crawler.on('toString', () => {}), ["got 'toString';"]],
]

describe('an invalid option', () => {
  test.each(mistakes)('%s', (_, make, parts) => {
    let error: unknown
    try {
      make()
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(KumoError)
    expect(error).toMatchObject({ code: 'KUMO_INVALID_OPTION', name: 'KumoError' })
    for (const part of parts)
      expect((error as KumoError).message).toMatch(typeof part === 'string' ? literal(part) : part)
  })

  test.each<[string, () => Promise<unknown>, string[]]>([
    ['run(5)', () => crawler.run(5), ['run: got 5;', 'signal']],
    ['run({ sginal })', () => crawler.run({ sginal: 1 }), ["run: got 'sginal';", 'the keys signal']],
    [
      'run(controller)',
      () => crawler.run({ signal: new AbortController() }),
      ['run.signal: got', 'controller.signal'],
    ],
    [
      'run(signal)',
      () => crawler.run(AbortSignal.timeout(5000)),
      ['run: got an AbortSignal; allowed: { signal }'],
    ],
    ['run(new Map())', () => crawler.run(new Map()), ['run: got a Map; allowed: { signal }']],
    ['run(null)', () => crawler.run(null), ['run: got null;']],
  ])('%s rejects, it does not throw', async (_, run, parts) => {
    const error = await run().catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'KUMO_INVALID_OPTION' })
    for (const part of parts) expect((error as KumoError).message).toContain(part)
  })
})

describe('valid options', () => {
  test.each<[string, () => unknown]>([
    ['concurrency', () => crawler.concurrency(1).concurrency(100_000)],
    ['delay', () => crawler.delay(0).delay('250ms').delay('1.5s').delay('2 m').delay('1h').delay('1d')],
    [
      'perHost, in parts',
      () => crawler.perHost({}).perHost({ connections: 2 }).perHost({ growAt: 1, connections: undefined }),
    ],
    [
      'limits without bound',
      () =>
        crawler
          .limit({ pages: Number.POSITIVE_INFINITY, time: '1h' })
          .limit({ pages: undefined, time: Number.POSITIVE_INFINITY }),
    ],
    ['depth', () => crawler.depth(0).depth(Number.POSITIVE_INFINITY)],
    ['timeouts', () => crawler.timeout('5s').timeout({ hook: '1h' }).timeout({})],
    [
      'scopes',
      () =>
        crawler
          .scope('site')
          .scope('host', '/a/**', /x/, () => true, not('/b'), any('localhost:3000', 'a.example')),
    ],
    ['include nothing', () => crawler.include().exclude()],
    [
      'names in every place',
      () =>
        crawler
          .scope(any('host', not('path')))
          .include('site')
          .exclude('origin'),
    ],
    ["a field called 'extract' among others", () => crawler.extract({ extract: () => 1, title: () => 2 })],
    [
      'an instance of a class as options',
      () =>
        crawler.limit(
          new (class {
            pages = 5
          })(),
        ),
    ],
    ['a path prefix', () => crawler.scope(pathPrefix('/a'))],
    ['headers', () => crawler.headers({ 'Accept-Language': 'ja', cookie: 'a=ä' }).headers({})],
    ['a hook of failures only', () => crawler.use({ name: 'h', failure: () => {} })],
    [
      'a hook that is a class',
      () =>
        crawler.use(
          new (class {
            name = 'h'
            page() {}
          })(),
        ),
    ],
  ])('%s', (_, make) => {
    expect(make()).toBeInstanceOf(Crawler)
  })
})

describe('a crawler is a value', () => {
  const base = new Crawler()
    .fetcher(({ url }) => {
      const body = Buffer.from(`<a href="/a">a</a><title>${url}</title>`)
      return {
        ok: true,
        status: 200,
        headers: new Map([['content-type', 'text/html']]),
        body,
        wireBytes: 0,
        skippedBody: false,
      }
    })
    .delay(0)
    .robots(false)

  test('a step changes nothing on the original, and a shared base can branch', async () => {
    const seeded = base.seeds('http://one.example/')
    const deep = seeded.seeds('http://two.example/')
    const shallow = seeded.depth(0)
    const heard: string[] = []
    const listening = shallow.on('page', ({ url }) => void heard.push(url))
    expect(await seeded.run()).toMatchObject({ pages: 2 })
    expect(await deep.run()).toMatchObject({ pages: 4 })
    expect(await shallow.run()).toMatchObject({ pages: 1 })
    expect(heard).toEqual([])
    await listening.run()
    expect(heard).toEqual(['http://one.example/'])
    await expect(base.run()).rejects.toMatchObject({
      code: 'KUMO_NO_SEEDS',
      message: expect.stringContaining('run the one that .seeds() returned'),
    })
  })

  test('every step returns another crawler', () => {
    const steps: ((c: Crawler) => unknown)[] = [
      (c) => c.seeds('http://a.example/'),
      (c) => c.concurrency(1),
      (c) => c.workers(2),
      (c) => c.delay(0),
      (c) => c.perHost({ connections: 2 }),
      (c) => c.userAgent('x'),
      (c) => c.headers({}),
      (c) => c.scope('all'),
      (c) => c.include('/a'),
      (c) => c.exclude('/a'),
      (c) => c.depth(1),
      (c) => c.limit({}),
      (c) => c.timeout('1s'),
      (c) => c.maxBodyBytes(1),
      (c) => c.retries(0),
      (c) => c.robots(false),
      (c) => c.redirects(1),
      (c) => c.block('a.example'),
      (c) => c.urls({ drop: ['sid'] }),
      (c) => c.traps(false),
      (c) => c.sitemaps(false),
      (c) => c.from('me@example.com'),
      (c) => c.auth('https://example.com', { username: 'a', password: 'b' }),
      (c) => c.cookies(),
      (c) => c.proxy('http://proxy.example:3128'),
      (c) => c.http2(),
      (c) => c.tls({ rejectUnauthorized: false }),
      (c) => c.dns({ servers: ['192.0.2.53'] }),
      (c) => c.allowPrivate('10.0.0.7', '::1', 'intranet.example'),
      (c) => c.store(memory()),
      (c) => c.extract({}),
      (c) => c.use({ name: 'h', page: () => {} }),
      (c) => c.on('end', () => {}),
    ]
    for (const step of steps) {
      const next = step(base)
      expect(next).toBeInstanceOf(Crawler)
      expect(next).not.toBe(base)
    }
  })

  test('later changes to an argument have no effect', async () => {
    const seeds = ['http://one.example/']
    const more = { 'x-a': '1' }
    const limits = { pages: 1 }
    const crawler = base.seeds(seeds).headers(more).limit(limits)
    seeds.push('http://two.example/')
    limits.pages = 100
    expect(await crawler.run()).toMatchObject({ pages: 1 })
    const fields: Record<string, () => unknown> = { a: () => 1 }
    const extracting = crawler.extract(fields)
    fields.b = () => 2
    const data: object[] = []
    await extracting.on('page', (page) => void data.push(page.data)).run()
    expect(data).toEqual([{ a: 1 }])
  })
})

describe('workers', () => {
  const workersOf = (made: Loose) => made.options.workers

  test('are none by default', () => {
    expect(workersOf(crawler)).toEqual({ count: 0, watchdogMs: 30_000, balance: true })
  })

  test.each<[string, Loose, object]>([
    ['a number', crawler.workers(3), { count: 3, watchdogMs: 30_000, balance: true }],
    ['the most', crawler.workers(1024), { count: 1024, watchdogMs: 30_000, balance: true }],
    [
      'all cores',
      crawler.workers('auto'),
      { count: availableParallelism(), watchdogMs: 30_000, balance: true },
    ],
    [
      'with every key',
      crawler.workers(2, { watchdog: '5s', balance: false }),
      { count: 2, watchdogMs: 5000, balance: false },
    ],
    [
      'without a watchdog',
      crawler.workers(2, { watchdog: false }),
      { count: 2, watchdogMs: Number.POSITIVE_INFINITY, balance: true },
    ],
    [
      'the last call wins',
      crawler.workers(2, { balance: false }).workers(0),
      { count: 0, watchdogMs: 30_000, balance: true },
    ],
  ])('%s', (_, made, workers) => {
    expect(workersOf(made)).toEqual(workers)
  })
})

test('httpFetcher() and a crawl share their defaults', () => {
  expect(HTTP_DEFAULTS.maxBodyBytes).toBe(DEFAULTS.maxBodyBytes)
  expect(HTTP_DEFAULTS.connectTimeoutMs).toBe(DEFAULTS.timeout.fetchMs)
})

describe('show', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.self = cyclic
  test.each<[unknown, string]>([
    ['a', "'a'"],
    [1, '1'],
    [undefined, 'undefined'],
    [null, 'null'],
    [Symbol('s'), 'Symbol(s)'],
    [() => 1, 'a function'],
    [{ a: 1 }, '{"a":1}'],
    [cyclic, '[object Object]'],
    [Object.create(null), '{}'],
    [new Set([1]), 'a Set'],
    [new AbortController(), 'an AbortController'],
    [new URL('https://e.com/'), '"https://e.com/"'],
    [{ big: 1n }, '[object Object]'],
    [{ toJSON: () => undefined }, '[object Object]'],
  ])('case %#', (value, shown) => {
    expect(show(value)).toBe(shown)
  })

  test('shortens long ones', () => {
    expect(show('x'.repeat(1000)).length).toBeLessThan(100)
    expect(show(Array.from({ length: 1000 }, () => 1)).length).toBeLessThan(100)
  })
})

describe('checks', () => {
  test('an inherited key is not an option', () => {
    expect(() => record('x', { constructor: 1 }, ['a'])).toThrow("x: got 'constructor'")
    expect(record('x', {}, ['a']).a).toBeUndefined()
  })

  test('headers are copied', () => {
    const given = { a: 'b' }
    expect(headers('headers', given)).toEqual(given)
    expect(headers('headers', given)).not.toBe(given)
  })
})

function literal(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
}
