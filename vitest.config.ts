import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { INSTALLED } from './test/package/place.js'
import { isThorough } from './test/thorough.js'

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

const crawls = (...names: string[]) => names.map((name) => `test/crawler/${name}.test.ts`)

const CRAWLS = ['test/crawler/**/*.test.ts']
/** What several workers share or send each other: control, limits, clocks of hosts, statistics, code of the user's. */
const WITH_WORKERS = crawls(
  'adding',
  'bad-parts',
  'bandwidth',
  'control',
  'feeds',
  'first-crawl',
  'hooks',
  'limits',
  'parts',
  'politeness',
  'refresh',
  'requests',
  'stats',
  'trouble',
  'user-code',
)
/** What the build could break: classes, private fields, lazy dependencies, programs that end, code of the user's. */
const AS_PUBLISHED = crawls(
  'first-crawl',
  'bad-parts',
  'doors',
  'iteration',
  'parts',
  'requests',
  'sitemaps',
  'user-code',
)

/** Tests that change nothing global, expect no warning of the process and measure no memory, so that files can share a process. */
const PURE = [
  'cli',
  'conformance',
  'cluster',
  'crawler',
  'durability',
  'engine',
  'exchange',
  'experiments',
  'extract',
  'feeds',
  'fetch',
  'frontier',
  'hooks',
  'hostile',
  'loopback',
  'modules',
  'options',
  'partition',
  'refresh',
  'search',
  'seen',
  'sim',
  'stores',
  'url',
  'warc',
  'workers',
].map((room) => `test/${room}/**/*.test.ts`)
const ALONE = [
  'crawler/handle',
  'crawler/hanging-parts',
  'crawler/large-pages',
  'crawler/no-page',
  'crawler/rules',
  'crawler/seeds',
  'crawler/shortage',
  'crawler/warnings',
  'crawler/whole-sites',
  'extract/html/hostile',
  'extract/sitemap/large',
  'fetch/http/bombs',
  'fetch/http/connections',
  'fetch/http/http2/http2',
  'fetch/http/response',
  'search/words/stemmers',
  'url/resolve',
].map((name) => `test/${name}.test.ts`)

export default defineConfig({
  resolve: {
    alias: [
      { find: /^kumo$/, replacement: source('index.ts') },
      { find: /^kumo\/adapters$/, replacement: source('adapters.ts') },
      { find: /^kumo\/content$/, replacement: source('extract/content/index.ts') },
      { find: /^kumo\/feeds$/, replacement: source('feeds/index.ts') },
      { find: /^kumo\/redis$/, replacement: source('stores/redis/index.ts') },
      { find: /^kumo\/search$/, replacement: source('search/index.ts') },
      { find: /^kumo\/warc$/, replacement: source('warc/index.ts') },
      { find: /^kumo\/graph$/, replacement: source('hooks/graph/index.ts') },
      { find: /^kumo\/sinks$/, replacement: source('hooks/sinks/index.ts') },
      { find: /^kumo\/conformance$/, replacement: source('conformance/index.ts') },
      { find: /^kumo\/sim$/, replacement: source('sim/index.ts') },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'pure', include: PURE, exclude: ALONE, isolate: false },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE },
      },
      {
        extends: true,
        test: {
          name: 'one thread',
          include: ['test/**/*.test.ts'],
          exclude: ['test/package/**', ...PURE],
        },
      },
      // What a crawl does must not depend on the number of its threads.
      ...(isThorough ? [1, 2, 3] : [2]).map((workers) => ({
        extends: true as const,
        test: {
          name: `workers ${workers}`,
          include: isThorough ? CRAWLS : WITH_WORKERS,
          isolate: isThorough,
          env: { KUMO_TEST_WORKERS: String(workers) },
        },
      })),
      // What is published behaves as its sources do, also as CommonJS.
      {
        extends: true,
        resolve: {
          alias: [
            { find: /^kumo$/, replacement: `${INSTALLED}/dist/index.cjs` },
            { find: /^kumo\/adapters$/, replacement: `${INSTALLED}/dist/adapters.cjs` },
            { find: /^kumo\/content$/, replacement: `${INSTALLED}/dist/content.cjs` },
            { find: /^kumo\/feeds$/, replacement: `${INSTALLED}/dist/feeds.cjs` },
            { find: /^kumo\/redis$/, replacement: `${INSTALLED}/dist/redis.cjs` },
            { find: /^kumo\/search$/, replacement: `${INSTALLED}/dist/search.cjs` },
            { find: /^kumo\/warc$/, replacement: `${INSTALLED}/dist/warc.cjs` },
            { find: /^kumo\/graph$/, replacement: `${INSTALLED}/dist/graph.cjs` },
            { find: /^kumo\/sinks$/, replacement: `${INSTALLED}/dist/sinks.cjs` },
          ],
        },
        test: {
          name: 'package',
          include: ['test/package/**/*.test.ts', ...(isThorough ? CRAWLS : AS_PUBLISHED)],
          globalSetup: ['test/package/pack.ts'],
        },
      },
    ],
    // Only what hangs comes to it: a machine that is busy with other things takes ten times as long.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // A machine may stand still for seconds. What fails twice is a defect; `npm test` by hand shows what fails once.
    retry: process.env.CI === undefined ? 0 : 1,
    // Worker threads cannot run the sources as they are.
    globalSetup: ['test/thread-program.ts'],
    setupFiles: ['test/use-thread-program.ts'],
    // Many tests wait for pauses and timeouts, so that two cores have room for four.
    maxWorkers: 4,
    // Concurrent tests are programs that wait for rate limits most of the time.
    maxConcurrency: 16,
  },
})
