import type { KnipConfig } from 'knip'

/** Programs and modules that are started or loaded by path, so that no import leads to them. */
const startedByPath = [
  'bench/run.ts',
  'bench/pairs.ts',
  'bench/aborting.ts',
  'bench/search-memory.ts',
  'bench/search-mini.ts',
  'bench/micro/*.ts',
  'bench/*.mjs',
  'bench/web/*.mjs',
  'bench/peers/*.mjs',
  'build/import-meta-url.js',
  'examples/*.{ts,mjs}',
  'examples/demo/picture.ts',
  'test/conformance/under-node-test.ts',
  'test/{crawler,run}/programs/*.ts',
  'test/{cluster,durability}/*-program.ts',
  'test/extract/dom/loads-dom-late.ts',
  'test/hooks/worker-hooks.ts',
  'test/package/*.{mjs,cjs}',
  'test/search/index/killed-program.ts',
  'test/search/index/read-program.ts',
  'test/search/crawl/document-module.ts',
  'test/stores/level/db/{copies-and-waits,exits-by-itself}.ts',
  'test/stores/level/threads/{plain-thread.mjs,shard-thread.ts}',
]

/**
 * `knip` finds what nothing uses; `knip --production` finds what only tests use. The entries of the package are those of
 * tsup.config.ts, which knip reads itself.
 */
const config: KnipConfig = ({ production = false }) => ({
  entry: [...startedByPath, 'test/**/*.test.ts', 'test/**/*.test-d.ts'],
  project: ['src/**/*.ts!', '{test,bench,experiments,examples}/**/*.{ts,mjs,cjs}', 'build/*.{js,ts}'],
  // Loaded with `require`, because they are CommonJS without types, or without types that work.
  // The last three are installed by the bench of peers, elsewhere.
  ignoreDependencies: [
    'html-encoding-sniffer',
    'node-warc',
    '@crawlee/cheerio',
    '@spider-rs/spider-rs',
    'crawler',
  ],
  // A function that its own file uses may be exported for its unit test, and a type beside the function that takes it.
  ignoreExportsUsedInFile: production || { interface: true, type: true },
})

export default config
