import { defineConfig } from 'tsup'

const library = {
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

export default defineConfig({
  // The command and the program of worker threads share the library's chunks; their CommonJS twins come with the format
  // and are named by nobody.
  entry: { ...library, cli: 'src/cli/main.ts', thread: 'src/run/threads/thread.ts' },
  format: ['esm', 'cjs'],
  target: 'node20',
  // A command has nothing to import, so it needs no types.
  dts: { entry: library },
  clean: true,
  // One copy of everything, so that an error of any entry is an instance of the one KumoError.
  splitting: true,
  // Lets Rollup write the CommonJS chunks. Otherwise sucrase does, which takes `this.#all = …` for an assignment to an
  // export named `all` and overwrites that as well.
  treeshake: true,
  sourcemap: true,
  esbuildOptions(options, { format }) {
    if (format !== 'cjs') return
    options.define = { ...options.define, 'import.meta.url': 'importMetaUrl' }
    options.inject = ['build/import-meta-url.js']
  },
})
