/** What programs import: the name in `kumo/…` and its source. */
export const library = {
  index: 'src/index.ts',
  adapters: 'src/adapters.ts',
  content: 'src/extract/content/index.ts',
  feeds: 'src/feeds/index.ts',
  redis: 'src/stores/redis/index.ts',
  search: 'src/search/index.ts',
  warc: 'src/warc/index.ts',
  graph: 'src/hooks/graph/index.ts',
  sinks: 'src/hooks/sinks/index.ts',
  conformance: 'src/conformance/index.ts',
  sim: 'src/sim/index.ts',
}
